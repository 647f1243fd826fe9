#include "kernels/split.h"

#include <algorithm>

namespace tacho {

double largest_share(const Loop& loop, int threads) {
  const int64_t pieces = loop.pieces > 0 ? loop.pieces : loop.items;
  const int64_t most = divide_up(loop.items, threads) * divide_up(pieces, loop.items);
  return std::min(1.0, static_cast<double>(most) / static_cast<double>(pieces));
}

double work_of(const Split& split) {
  double sum = 0;
  for (const Loop& loop : split.loops) sum += loop.work;
  return sum;
}

double longest_work(const Split& split, int threads) {
  double sum = 0;
  for (const Loop& loop : split.loops) sum += loop.work * largest_share(loop, threads);
  return sum;
}

int64_t parts_of_each(int64_t items, int64_t most, int threads) {
  if (items >= 3 * int64_t{threads}) return 1;
  const int64_t wanted = std::min(divide_up(4 * int64_t{threads}, items), most);
  return divide_up(most, most / wanted);  // so few hold one piece less than others
}

Split evenly(int64_t items) { return {{{.items = items}}}; }

Split by_one_thread() { return evenly(1); }

}  // namespace tacho
