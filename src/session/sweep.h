#pragma once

#include <vector>

#include "bench/case.h"

namespace tacho {

// The axes of a sweep and what all its cells share.
struct Sweep {
  std::vector<std::string> models;
  std::vector<Mode> modes = {Mode::infer};
  std::vector<std::string> engines;
  std::vector<int64_t> batches = {};  // empty: 16 images, or 1 volume
  std::vector<int64_t> devices = {1};
  std::vector<int64_t> threads = {};  // empty: the usable cores, shared among the devices
  std::vector<Extents> images = {};   // empty: the model's own; one number stands for every axis
  Case shared = {};                   // classes, warm-up, repeat, seed, weights
};

// The product of the axes, the batch changing fastest: model, image, mode, engine, devices, threads, batch.
// Throws UserError for unknown models and images with the wrong number of axes.
std::vector<Case> expand(const Sweep& sweep, int usable_cores);

// Throws UserError for a case that can never run as it is written, such as an image too small for the
// network.
void check_case(const Case& cell);

// Throws UserError where the case's weights file does not fit its model. Returns how many entries of an
// auxiliary head the file holds, which are not used.
int check_weights_file(const Case& cell);

// FLOP of all passes, 0 for a case that cannot fit into memory: how long cells take relative to each other.
double expected_work(const Case& cell);

}  // namespace tacho
