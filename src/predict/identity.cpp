#include "predict/identity.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu.h"
#include "base/json_values.h"
#include "base/text.h"
#include "predict/block_plan.h"
#include "predict/border_name.h"
#include "predict/journal.h"

namespace tacho {
namespace {

constexpr int64_t kSampleSide = 48;  // of the boxes whose voxels stand for all
constexpr int kSamples = 3;          // along the diagonal

uint64_t hash_of(std::span<const std::byte> bytes) {
  return stable_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string hexadecimal(uint64_t number) { return fmt::format("{:016x}", number); }

uint64_t joined(uint64_t a, uint64_t b) { return stable_hash(hexadecimal(a) + hexadecimal(b)); }

std::string checksum_of(const Weights& weights) {
  uint64_t sum = 0;
  for (const auto& [name, tensor] : weights) {
    sum = joined(sum, stable_hash(name));
    sum = joined(sum, hash_of({tensor.raw(), tensor.bytes()}));
  }
  return hexadecimal(sum);
}

Box sample_box(const Point& shape, int which) {
  Box box;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t side = std::min(kSampleSide, shape[axis]);
    box.begin[axis] = (shape[axis] - side) * which / (kSamples - 1);
    box.end[axis] = box.begin[axis] + side;
  }
  return box;
}

std::string checksum_of(Volume& volume) {
  uint64_t sum = 0;
  for (int which = 0; which < kSamples; ++which) {
    const Box box = sample_box(volume.info().shape, which);
    std::vector<std::byte> bytes(static_cast<size_t>(voxels(box)) * size_of(volume.info().type));
    volume.read(box, bytes);
    sum = joined(sum, hash_of(bytes));
  }
  return hexadecimal(sum);
}

}  // namespace

Json prediction_identity(const PredictionSubject& subject) {
  const auto& [model, weights, input, normalization, execution, block, output] = subject;
  return {{"model", model},
          {"weights", checksum_of(weights)},
          {"volume", input.info().shape},
          {"voxels", std::string(name_of(input.info().type))},
          {"input", checksum_of(input)},
          {"normalization", {normalization.mean, normalization.deviation}},
          {"engine", execution.engine},
          {"precision", execution.precision},
          {"device", execution.device.substr(0, execution.device.find(':'))},
          {"memory", execution.low_memory ? "low" : "normal"},
          {"kernel", execution.kernel.empty() ? "fastest" : execution.kernel},
          {"tiling", kTilingVersion},
          {"block", block.block},
          {"halo", block.halo ? Json(*block.halo) : Json("exact")},
          {"border", std::string(name_of(block.border))},
          {"dtype", std::string(name_of(output.type))},
          {"compression", std::string(name_of(output.compression))},
          {"chunk", output.chunk},
          {kRounding, {{"cpu", cpu_info().model}, {"threads", execution.threads}}}};
}

}  // namespace tacho
