#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

namespace tacho::torch_engine {

// "cpu", then "cuda:0" and so on where libtorch finds any.
std::vector<std::string> devices();

// What a GPU is still doing is done when this returns: every clock reading follows one.
void finish_work_on(const at::Device& device);

}  // namespace tacho::torch_engine
