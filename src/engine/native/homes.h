#pragma once

#include <map>
#include <set>

#include "engine/native/program.h"

namespace tacho::native {

// Where a value lives that is part of a concatenation: in the channels of `whole` from `channel` on.
struct Home {
  ValueId whole;
  int64_t channel;
};

struct Homes {
  std::map<ValueId, Home> of;  // also of concatenations that are parts of larger ones
  std::set<ValueId> joined;    // every concatenation whose parts can be slices of it

  // Where any value of `joined` lives.
  Home home_of(ValueId id) const;
};

// A concatenation can be made of slices where each of its parts holds whole blocks of channels: then their
// producers write straight into it. In training only those that the backward pass reads.
Homes find_homes(const Program& program, int64_t channel_block);

// Those of the native engine: where kernels of ours can write slices.
Homes homes_of(const Program& program);

}  // namespace tacho::native
