#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/case.h"

namespace tacho {

// Axes of a sweep as they were typed, by the name of their field (results/fields.h): {{"model",
// "resnet18,vgg16"}, {"batch", "1-8"}}. What is absent takes its default.
using TypedAxes = std::map<std::string, std::string>;

// How many threads each of so many devices gets that have to share the machines.
using ThreadsPerDevice = std::function<int(int devices)>;

// The product of the axes, in the order of their nesting: the batch changes fastest. Throws UserError for
// what cannot be read, unknown models and images with the wrong number of axes.
std::vector<Case> expand(const TypedAxes& typed, const ThreadsPerDevice& threads);
// The same on one machine.
std::vector<Case> expand(const TypedAxes& typed, int usable_cores);

}  // namespace tacho
