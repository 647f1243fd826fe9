#include "engine/native/onednn_limit.h"

#include <algorithm>

#include "base/error.h"
#include "engine/native/layout.h"
#include "engine/saturating.h"

namespace tacho::native {
namespace {

constexpr int64_t kWidestBlock = 16;

bool within_limit(const Shape& shape) {
  int64_t count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool channels = axis == 1 && shape.size() > 2;
    const int64_t extent = channels ? saturating_round_up(shape[axis], kWidestBlock) : shape[axis];
    count = saturating_multiply(count, extent);
  }
  return count <= kMostOnednnElements;
}

}  // namespace

bool within_onednn_limit(const Program& program, const Instruction& instruction) {
  const auto within = [&](ValueId id) { return within_limit(program.shape(id)); };
  return std::ranges::all_of(instruction.inputs, within) && std::ranges::all_of(instruction.outputs, within);
}

void require_within_onednn_limit(std::string_view layer, std::string_view kernel,
                                 const dnnl::memory::desc& desc) {
  const auto bytes = static_cast<int64_t>(dnnl::memory::data_type_size(data_type_of(desc)));
  const int64_t count = bytes == 0 ? 0 : content_bytes(desc) / bytes;
  if (count <= kMostOnednnElements) return;
  throw UserError(
      "{}: oneDNN's {} would work on {} elements, and it counts to {}: take a smaller batch or image", layer,
      kernel, count, kMostOnednnElements);
}

}  // namespace tacho::native
