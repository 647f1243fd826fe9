#pragma once

#include <cstdint>
#include <functional>
#include <vector>

// How kernels share their work among threads: the same numbers that their loops run over.
namespace tacho {

// A loop whose items threads share. All of them wait at its end.
struct Loop {
  int64_t items = 1;   // 1: one thread computes while the others wait
  double work = 1;     // of all rounds, in a unit that all loops of a step share, whatever the threads
  int64_t pieces = 0;  // that items are made of: item i of [pieces * i / items, pieces * (i + 1) / items)
  int64_t rounds = 1;  // the loop is run, one after the other
};

// The loops of a step, one after the other.
struct Split {
  std::vector<Loop> loops;
};

using SplitFor = std::function<Split(int threads)>;

// The share of a loop's work that one thread has at most.
double largest_share(const Loop& loop, int threads);

double work_of(const Split& split);
// What the thread with the most work in each loop does: the others wait for it.
double longest_work(const Split& split, int threads);

// Into how many parts each of `items` is cut for threads to have about the same: 1 where there are enough of
// them, never more than `most`.
int64_t parts_of_each(int64_t items, int64_t most, int threads);

constexpr int64_t divide_up(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// So many equal items.
Split evenly(int64_t items);
// For what one thread computes alone.
Split by_one_thread();

}  // namespace tacho
