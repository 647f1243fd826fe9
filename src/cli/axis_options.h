#pragma once

#include <string>
#include <vector>

#include "bench/case.h"
#include "cli/command_line.h"
#include "distributed/world.h"
#include "session/sweep.h"

namespace tacho {

// What a shell offers where a network is to be named.
std::vector<std::string> model_names();

// What is known before anything is typed: this build's first engine, and the launcher's ranks.
TypedAxes default_axes();

// The axes of a sweep as they were typed.
struct SweepOptions {
  std::vector<std::string> models;
  TypedAxes axes =
      default_axes();  // the command may put defaults of its own here before the options are added
};

// An option for every axis of the field table; the models are arguments.
void add_axes(Command command, SweepOptions& options);

// The same for the fields of an Execution alone, each with one value.
void add_execution_options(Command command, TypedAxes& typed);

// Throws UserError where an axis cannot be read.
std::vector<Case> expand(const SweepOptions& options, const World& world);
Execution execution_of(const TypedAxes& typed, const World& world);

}  // namespace tacho
