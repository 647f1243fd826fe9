#include "engine/torch/module/layout.h"

#include <stdexcept>

namespace tacho::torch_engine {
namespace {

constexpr const char* kContiguous = "contiguous";
constexpr const char* kChannelsLast = "channels_last";

}  // namespace

std::vector<std::string> layouts() { return {kContiguous, kChannelsLast}; }

Layout find_layout(const std::string& name) {
  if (name == kContiguous) return Layout::contiguous;
  if (name == kChannelsLast) return Layout::channels_last;
  throw std::logic_error("[torch] no layout " + name);
}

at::MemoryFormat memory_format(Layout layout, int64_t axes) {
  if (layout == Layout::channels_last && axes == 4) return at::MemoryFormat::ChannelsLast;
  if (layout == Layout::channels_last && axes == 5) return at::MemoryFormat::ChannelsLast3d;
  return at::MemoryFormat::Contiguous;
}

}  // namespace tacho::torch_engine
