#include "engine/native/placement.h"

#include <algorithm>

#include "engine/memory_plan.h"

namespace tacho::native {
namespace {

constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool in_arena(const Slot& slot) {
  return slot.storage == Storage::arena || slot.storage == Storage::input || slot.storage == Storage::output;
}

// First and last step that touches each slot; inputs live before that, and they and outputs after it.
std::vector<Lifetime> lifetimes_of(const Assembly& assembly) {
  const int last_step = static_cast<int>(assembly.steps.size());
  std::vector<Lifetime> lifetimes;
  for (const Slot& slot : assembly.slots) {
    const bool input = slot.storage == Storage::input, output = slot.storage == Storage::output;
    lifetimes.push_back({slot.bytes, input ? 0 : last_step, input || output ? last_step : 0});
  }
  for (int step = 0; step < last_step; ++step) {
    for (SlotId slot : assembly.steps[static_cast<size_t>(step)]->slots()) {
      Lifetime& lifetime = lifetimes[static_cast<size_t>(slot)];
      lifetime.first = std::min(lifetime.first, step);
      lifetime.last = std::max(lifetime.last, step);
    }
  }
  // What comes into steps that run on one chunk of the batch after the other, or leads out of them, is there
  // for all chunks.
  for (const ChunkedSteps& steps : assembly.chunked) {
    const auto first = static_cast<int>(steps.begin), last = static_cast<int>(steps.end) - 1;
    for (Lifetime& lifetime : lifetimes) {
      if (lifetime.first < first && lifetime.last >= first) lifetime.last = std::max(lifetime.last, last);
      if (lifetime.last > last && lifetime.first <= last) lifetime.first = std::min(lifetime.first, first);
    }
  }
  // A gradient waits for the last step that reads its parameter, which is updated after it.
  for (const GradientPart& part : assembly.gradient_parts) {
    int& last = lifetimes[static_cast<size_t>(part.gradient)].last;
    last = std::max(last, lifetimes[static_cast<size_t>(part.parameter)].last);
  }
  return lifetimes;
}

}  // namespace

Placement place(const Assembly& assembly) {
  Placement placement;
  placement.offsets.resize(assembly.slots.size());
  const std::vector<Lifetime> lifetimes = lifetimes_of(assembly);
  std::vector<Lifetime> shared;
  std::vector<size_t> shared_slots;
  for (size_t i = 0; i < assembly.slots.size(); ++i) {
    const Slot& slot = assembly.slots[i];
    if (in_arena(slot)) {
      shared.push_back(lifetimes[i]);
      shared_slots.push_back(i);
    } else {
      placement.offsets[i] = placement.bytes[slot.storage];
      placement.bytes[slot.storage] += aligned(slot.bytes);
    }
  }
  const MemoryPlan plan = plan_memory(shared);
  for (size_t i = 0; i < shared_slots.size(); ++i) placement.offsets[shared_slots[i]] = plan.offsets[i];
  placement.bytes[Storage::arena] = plan.total_bytes;
  return placement;
}

}  // namespace tacho::native
