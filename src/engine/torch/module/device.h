#pragma once

#include <ATen/ATen.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tacho::torch_engine {

// "cpu", then "cuda:0" and so on where libtorch finds any.
std::vector<std::string> devices();

// Of the CPU, as libtorch uses it: "AVX2".
std::string instruction_set();

// Where a GPU sits, as its driver names it; empty for the CPU.
std::string bus_id(const std::string& device);

// Whether a GPU computes products of tf32 and bf16 by itself. Older ones take tf32 for f32 without a word.
bool has_short_products(const std::string& device);

// The device that this thread means from now on where it names none, as when it pins memory.
void make_current(const at::Device& device);

// CUDA's, cuDNN's and NCCL's versions; none without them.
std::map<std::string, std::string> gpu_libraries();

// By libtorch's allocator of a GPU, since it was told to forget; nothing on the CPU.
std::optional<int64_t> peak_device_bytes(const at::Device& device);
void forget_peak_of(const at::Device& device);

// What a GPU was given so far on the stream of this thread, in which plans compute, is done when this
// returns: every clock reading follows one. An exchange of gradients has a stream of its own.
void finish_work_on(const at::Device& device);

}  // namespace tacho::torch_engine
