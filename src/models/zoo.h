#pragma once

#include <span>
#include <string>
#include <string_view>

#include "graph/gradient.h"
#include "graph/graph.h"

namespace tacho {

struct ModelOptions {
  int64_t batch = 1;
  Extents image = {};      // spatial extents; empty: the model's own
  int64_t classes = 1000;  // ignored by the 3D U-Nets
};

struct Model {
  std::string_view name;
  std::string_view family;
  Extents image;         // default spatial extents
  int64_t channels = 3;  // of the input
  Loss loss = Loss::softmax_cross_entropy;
  // How the names of weights begin that published files have for a head which only served their training.
  std::string_view training_head = {};
  Graph (*build)(const Model& model, const ModelOptions& options);
};

// The zoo, in the order in which it is listed.
std::span<const Model> models();

// Throws UserError that suggests the nearest name.
const Model& find_model(std::string_view name);

// The image to build for: the model's own if none is given; one number is a square. Throws UserError for a
// wrong number of axes.
Extents resolve_image(const Model& model, const Extents& image);

// The inference graph: input "input" (N, C, spatial...), one output. Throws UserError for an image the
// network cannot take, with the smallest that works.
Graph build_model(const Model& model, const ModelOptions& options);

}  // namespace tacho
