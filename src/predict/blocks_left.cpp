#include "predict/blocks_left.h"

#include <algorithm>
#include <map>
#include <string>

#include "distributed/collectives.h"
#include "distributed/together.h"
#include "predict/chunks.h"
#include "predict/dealer.h"
#include "predict/journal.h"

namespace tacho {
namespace {

constexpr char kIntact = '1', kOther = '0';

bool must_stop(const CheckHooks& hooks) { return hooks.should_stop && hooks.should_stop(); }

std::map<int64_t, DoneBlock> noted_blocks(const std::filesystem::path& folder, const Tiling& tiling) {
  auto noted = read_journal(folder);
  std::erase_if(noted, [&](const auto& note) { return note.first < 0 || note.first >= tiling.count(); });
  return noted;
}

std::vector<int64_t> numbers_of(const std::map<int64_t, DoneBlock>& blocks) {
  std::vector<int64_t> numbers;
  for (const auto& [number, done] : blocks) numbers.push_back(number);
  return numbers;
}

// A letter a block: what this rank found of those that were dealt to it.
std::string found_by_this_rank(Communicator& ranks, const std::filesystem::path& folder,
                               const ZarrOutput& output, const Tiling& tiling, const CheckHooks& hooks) {
  std::string found(static_cast<size_t>(tiling.count()), kOther);
  const auto noted = noted_blocks(folder, tiling);
  Dealer dealer(ranks, numbers_of(noted));
  for (int64_t checked = 0; !must_stop(hooks);) {
    const auto number = dealer.next(checked);
    if (!number) break;
    const auto note = noted.find(*number);
    if (note != noted.end() && is_intact(output, tiling.box(*number), note->second))
      found[static_cast<size_t>(*number)] = kIntact;
    ++checked;
    if (hooks.on_block)
      hooks.on_block(checked + dealer.finished_elsewhere(), static_cast<int64_t>(noted.size()));
  }
  return found;
}

}  // namespace

std::optional<std::vector<int64_t>> blocks_left(Communicator& ranks, const std::filesystem::path& folder,
                                                const ZarrOutput& output, const Tiling& tiling,
                                                const CheckHooks& hooks) {
  std::string found;
  together(ranks, [&] { found = found_by_this_rank(ranks, folder, output, tiling, hooks); });
  if (any(ranks, must_stop(hooks))) return {};
  const std::vector<std::string> all = all_gather(ranks, found);
  std::vector<int64_t> left;
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::ranges::none_of(all, [&](const std::string& one) { return one[i] == kIntact; }))
      left.push_back(static_cast<int64_t>(i));
  }
  return left;
}

}  // namespace tacho
