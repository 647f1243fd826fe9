#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "distributed/communicator.h"
#include "predict/tiling.h"
#include "volume/zarr_output.h"

namespace tacho {

struct CheckHooks {
  std::function<void(int64_t checked, int64_t all)> on_block =
      {};  // on rank 0: of all ranks, as far as it knows
  std::function<bool()> should_stop = {};
};

// The blocks of the output in `folder` that are to be computed: no note says that they are done, or their
// chunks are no longer as they were written. All ranks at once: they share the work, and all get the answer;
// nothing where any of them was to stop.
std::optional<std::vector<int64_t>> blocks_left(Communicator& ranks, const std::filesystem::path& folder,
                                                const ZarrOutput& output, const Tiling& tiling,
                                                const CheckHooks& hooks);

}  // namespace tacho
