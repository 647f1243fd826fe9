#include "distributed/collectives.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

namespace tacho {
namespace {

constexpr std::byte kToken{1};

template<typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template<typename T>
std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

int modulo(int number, int size) { return ((number % size) + size) % size; }

// The `index`-th of as many parts as there are ranks; sizes differ by one at most.
std::span<float> part_of(std::span<float> values, int index, int ranks) {
  const auto n = static_cast<size_t>(ranks), i = static_cast<size_t>(index);
  const size_t begin = values.size() * i / n, end = values.size() * (i + 1) / n;
  return values.subspan(begin, end - begin);
}

void add(std::span<const float> more, std::span<float> sum) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

// Afterwards rank r holds the mean of part r: each part goes once around the ring, from the rank behind its
// owner on, and everybody adds what it has.
void reduce_parts(Communicator& ranks, std::span<float> values, std::span<float> scratch) {
  const int rank = ranks.rank(), size = ranks.size();
  for (int step = 1; step < size; ++step) {
    const std::span<float> out = part_of(values, modulo(rank - step, size), size);
    const std::span<float> own = part_of(values, modulo(rank - step - 1, size), size);
    const std::span<float> in = scratch.first(own.size());
    ranks.exchange(std::as_bytes(out), modulo(rank + 1, size), std::as_writable_bytes(in),
                   modulo(rank - 1, size));
    add(in, own);
  }
  const float share = 1 / static_cast<float>(size);
  for (float& value : part_of(values, rank, size)) value *= share;
}

void hand_on_parts(Communicator& ranks, std::span<float> values) {
  const int rank = ranks.rank(), size = ranks.size();
  for (int step = 0; step + 1 < size; ++step) {
    const std::span<float> out = part_of(values, modulo(rank - step, size), size);
    const std::span<float> in = part_of(values, modulo(rank - step - 1, size), size);
    ranks.exchange(std::as_bytes(out), modulo(rank + 1, size), std::as_writable_bytes(in),
                   modulo(rank - 1, size));
  }
}

}  // namespace

// In each round everybody hears from one rank twice as far away.
void barrier(Communicator& ranks) {
  const int rank = ranks.rank(), size = ranks.size();
  for (int distance = 1; distance < size; distance *= 2) {
    std::byte in{};
    ranks.exchange(bytes_of(kToken), modulo(rank + distance, size), writable_bytes_of(in),
                   modulo(rank - distance, size));
  }
}

// In each round twice as many ranks have it.
void broadcast(Communicator& ranks, std::span<std::byte> bytes) {
  const int rank = ranks.rank(), size = ranks.size();
  for (int having = 1; having < size; having *= 2) {
    if (rank < having) {
      if (rank + having < size) ranks.exchange(bytes, rank + having, {}, -1);
    } else if (rank < 2 * having) {
      ranks.exchange({}, -1, bytes, rank - having);
    }
  }
}

int64_t broadcast(Communicator& ranks, int64_t number) {
  broadcast(ranks, writable_bytes_of(number));
  return number;
}

std::string broadcast(Communicator& ranks, std::string text) {
  text.resize(static_cast<size_t>(broadcast(ranks, static_cast<int64_t>(text.size()))));
  broadcast(ranks, std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<double> all_gather(Communicator& ranks, std::span<const double> own) {
  const int rank = ranks.rank(), size = ranks.size();
  std::vector<double> all(own.size() * static_cast<size_t>(size));
  const auto of = [&](int r) {
    return std::span(all).subspan(own.size() * static_cast<size_t>(modulo(r, size)), own.size());
  };
  std::ranges::copy(own, of(rank).begin());
  for (int step = 0; step + 1 < size; ++step) {
    ranks.exchange(std::as_bytes(of(rank - step)), modulo(rank + 1, size),
                   std::as_writable_bytes(of(rank - step - 1)), modulo(rank - 1, size));
  }
  return all;
}

std::vector<std::string> all_gather(Communicator& ranks, const std::string& own) {
  std::vector<std::string> all;
  const auto length = static_cast<double>(own.size());
  for (const double bytes : all_gather(ranks, {&length, 1}))
    all.emplace_back(static_cast<size_t>(bytes), ' ');
  all[static_cast<size_t>(ranks.rank())] = own;
  const int rank = ranks.rank(), size = ranks.size();
  for (int step = 0; step + 1 < size; ++step) {
    const std::string& out = all[static_cast<size_t>(modulo(rank - step, size))];
    std::string& in = all[static_cast<size_t>(modulo(rank - step - 1, size))];
    ranks.exchange(std::as_bytes(std::span(out)), modulo(rank + 1, size),
                   std::as_writable_bytes(std::span(in)), modulo(rank - 1, size));
  }
  return all;
}

bool any(Communicator& ranks, bool own) {
  const double answer = own ? 1 : 0;
  const std::vector<double> all = all_gather(ranks, {&answer, 1});
  return std::ranges::find(all, 1.0) != all.end();
}

void scatter(Communicator& ranks, std::span<const std::byte> whole, std::span<const size_t> parts,
             std::span<std::byte> own) {
  if (ranks.rank() > 0) return ranks.exchange({}, -1, own, 0);
  size_t begin = parts[0];
  for (int r = 1; r < ranks.size(); ++r) {
    const size_t bytes = parts[static_cast<size_t>(r)];
    ranks.exchange(whole.subspan(begin, bytes), r, {}, -1);
    begin += bytes;
  }
  std::memcpy(own.data(), whole.data(), parts[0]);
}

void gather(Communicator& ranks, std::span<const std::byte> own, std::span<const size_t> parts,
            std::span<std::byte> whole) {
  if (ranks.rank() > 0) return ranks.exchange(own, 0, {}, -1);
  std::memcpy(whole.data(), own.data(), parts[0]);
  size_t begin = parts[0];
  for (int r = 1; r < ranks.size(); ++r) {
    const size_t bytes = parts[static_cast<size_t>(r)];
    ranks.exchange({}, -1, whole.subspan(begin, bytes), r);
    begin += bytes;
  }
}

void all_reduce_mean(Communicator& ranks, std::span<float> values, std::span<float> scratch) {
  assert(scratch.size() >= ring_scratch(values.size(), ranks.size()));
  if (ranks.size() == 1) return;
  reduce_parts(ranks, values, scratch);
  hand_on_parts(ranks, values);
}

size_t ring_scratch(size_t values, int ranks) {
  const auto n = static_cast<size_t>(ranks);
  return (values + n - 1) / n;
}

int64_t ring_bytes(size_t values, int ranks) {
  return static_cast<int64_t>(2 * (values * sizeof(float)) * static_cast<size_t>(ranks - 1) /
                              static_cast<size_t>(ranks));
}

}  // namespace tacho
