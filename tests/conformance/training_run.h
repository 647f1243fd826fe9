#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "material.h"

namespace tacho::conformance {

// An engine, perhaps with a kernel forced, short of memory or without gradients to read.
struct EngineUnderTest {
  EngineUnderTest(const Engine& of, std::string forced = {}, bool little_memory = false)
      : engine(&of), kernel(std::move(forced)), low_memory(little_memory) {}
  std::string name() const;

  const Engine* engine;
  std::string kernel;
  bool low_memory;
  bool keep_gradients = true;
};

// A plan with the material written to it.
std::unique_ptr<Plan> prepared(const EngineUnderTest& engine, const Graph& graph, const Material& material,
                               const UpdateRule& rule = Sgd{}, SumOverDevices* batch_norm_sums = nullptr);

// What passes leave behind, by name.
using Outcome = std::map<std::string, Tensor>;

// "prediction".
Outcome run_inference(const EngineUnderTest& engine, const Graph& graph, const Material& material);

// Of the first pass "prediction", "loss", "input gradient" if the graph has it and "gradient of <parameter>"
// if they are kept; then the parameters and statistics after that pass or, where updates are asked for, after
// as many passes with update.
Outcome run_training(const EngineUnderTest& engine, const Graph& graph, const Material& material, int updates,
                     const UpdateRule& rule = Sgd{});

// Engines that compute, other than the reference: those to be held against it.
std::vector<EngineUnderTest> engines_under_test();
// The same, and again with each of their kernels forced.
std::vector<EngineUnderTest> engines_with_each_kernel();

}  // namespace tacho::conformance
