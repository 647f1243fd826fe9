#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/engine.h"

namespace tacho::conformance {

// What a graph is run on: values for its inputs in their order, and its weights.
struct Material {
  std::vector<Tensor> inputs;
  Weights weights;
};

// Inputs spread evenly in a random order, so that no two are close (ties decide max pooling) and none is near
// zero (the kink of ReLU); random labels and targets; weights by their initializer, constants replaced by
// random values.
Material make_material(const Graph& graph, uint64_t seed);

// A plan with the material written to it.
std::unique_ptr<Plan> prepared(const Engine& engine, const Graph& graph, const Material& material,
                               const UpdateRule& rule = Sgd{});

// What passes leave behind, by name.
using Outcome = std::map<std::string, Tensor>;

// "prediction".
Outcome run_inference(const Engine& engine, const Graph& graph, const Material& material);

// Of the first pass "prediction", "loss", "input gradient" if the graph has it and "gradient of <parameter>";
// then the parameters and statistics after that pass or, where updates are asked for, after as many passes
// with update.
Outcome run_training(const Engine& engine, const Graph& graph, const Material& material, int updates,
                     const UpdateRule& rule = Sgd{});

double largest_magnitude(const Tensor& tensor);

// Whether no element differs by more than `tolerance` times the largest magnitude in `truth`.
testing::AssertionResult agrees(const Tensor& truth, const Tensor& other, double tolerance);

// Engines that compute, other than the reference: those to be held against it.
std::vector<const Engine*> engines_under_test();

}  // namespace tacho::conformance
