#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/case.h"

namespace tacho {

// Axes of a sweep as they were typed, by the name of their field (results/fields.h): {{"model",
// "resnet18,vgg16"}, {"batch", "1-8"}}. What is absent takes its default.
using TypedAxes = std::map<std::string, std::string>;

// The product of the axes, in the order of their nesting: the batch changes fastest. Throws UserError for
// what cannot be read, unknown models and images with the wrong number of axes.
std::vector<Case> expand(const TypedAxes& typed, int usable_cores);

}  // namespace tacho
