#include "engine/reference/pooling.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "engine/reference/layout.h"
#include "engine/reference/sliding_window.h"

namespace tacho::reference {
namespace {

template<typename Pool>
SlidingWindow window_of(const Pool& op, const Tensor& x, const Tensor& y) {
  const Extents no_dilation(op.kernel.size(), 1);
  return SlidingWindow(
      {spatial(x.shape()), spatial(y.shape()), op.kernel, op.stride, op.padding, no_dilation});
}

// Calls visit(plane number) for every channel of every image; planes follow each other in memory.
template<typename F>
void for_each_plane(const Tensor& tensor, F visit) {
  const Layout layout = layout_of(tensor);
  for (int64_t number = 0; number < layout.images * layout.channels; ++number) visit(number);
}

// The tap with the largest value; the first of equals, never padding. NaN is larger than all, as in PyTorch.
size_t largest_tap(std::span<const float> from, std::span<const int64_t> cells) {
  const auto inside = [](int64_t cell) { return cell >= 0; };
  auto best = static_cast<size_t>(std::ranges::find_if(cells, inside) - cells.begin());
  assert(best < cells.size());
  for (size_t tap = best + 1; tap < cells.size(); ++tap) {
    if (!inside(cells[tap])) continue;
    const float value = from[static_cast<size_t>(cells[tap])];
    if (value > from[static_cast<size_t>(cells[best])] || std::isnan(value)) best = tap;
  }
  return best;
}

double divisor(const AveragePool& op, std::span<const int64_t> cells) {
  return static_cast<double>(std::ranges::count_if(cells, [&](int64_t cell) {
    return cell >= 0 || (op.count_padding && cell == SlidingWindow::kPadding);
  }));
}

// The input cells that one output cell of an adaptive pooling averages.
std::vector<int64_t> adaptive_cells(int64_t position, const Extents& input, const Extents& output) {
  const Extents index = unravel(position, output);
  Extents begin(input.size()), size(input.size());
  for (size_t axis = 0; axis < input.size(); ++axis) {
    begin[axis] = index[axis] * input[axis] / output[axis];
    const int64_t end = ((index[axis] + 1) * input[axis] + output[axis] - 1) / output[axis];
    size[axis] = end - begin[axis];
  }
  std::vector<int64_t> cells;
  for (int64_t number = 0; number < elements(size); ++number) {
    Extents cell = unravel(number, size);
    for (size_t axis = 0; axis < cell.size(); ++axis) cell[axis] += begin[axis];
    cells.push_back(ravel(cell, input));
  }
  return cells;
}

double sum_over(std::span<const int64_t> cells, std::span<const float> from) {
  double sum = 0;
  for (const int64_t cell : cells) sum += cell >= 0 ? from[static_cast<size_t>(cell)] : 0.0f;
  return sum;
}

void add_to(std::span<const int64_t> cells, double value, std::span<double> to) {
  for (const int64_t cell : cells) {
    if (cell >= 0) to[static_cast<size_t>(cell)] += value;
  }
}

// Sums in double for a whole tensor, rounded once at the end.
class Sums {
 public:
  explicit Sums(Tensor& target) : target_(target), sums_(static_cast<size_t>(target.size())) {}

  std::span<double> plane(int64_t number) {
    const auto cells = static_cast<size_t>(layout_of(target_).cells);
    return std::span(sums_).subspan(static_cast<size_t>(number) * cells, cells);
  }

  void store() {
    std::ranges::transform(sums_, target_.values<float>().begin(),
                           [](double sum) { return static_cast<float>(sum); });
  }

 private:
  Tensor& target_;
  std::vector<double> sums_;
};

}  // namespace

void max_pool(const MaxPool& op, const Tensor& x, Tensor& y, Tensor* argmax) {
  SlidingWindow window = window_of(op, x, y);
  for (int64_t position = 0; position < window.positions(); ++position) {
    const auto cells = window.cells(position);
    for_each_plane(x, [&](int64_t number) {
      const auto from = plane(x, 0, number);
      const size_t tap = largest_tap(from, cells);
      plane(y, 0, number)[static_cast<size_t>(position)] = from[static_cast<size_t>(cells[tap])];
      if (!argmax) return;
      argmax->values<uint8_t>()[static_cast<size_t>(number * window.positions() + position)] =
          static_cast<uint8_t>(tap);
    });
  }
}

void max_pool_backward(const MaxPool& op, const Tensor& argmax, const Tensor& dy, Tensor& dx) {
  SlidingWindow window = window_of(op, dx, dy);
  Sums sums(dx);
  for (int64_t position = 0; position < window.positions(); ++position) {
    const auto cells = window.cells(position);
    for_each_plane(dx, [&](int64_t number) {
      const auto tap = argmax.values<uint8_t>()[static_cast<size_t>(number * window.positions() + position)];
      add_to(cells.subspan(tap, 1), plane(dy, 0, number)[static_cast<size_t>(position)], sums.plane(number));
    });
  }
  sums.store();
}

void average_pool(const AveragePool& op, const Tensor& x, Tensor& y) {
  SlidingWindow window = window_of(op, x, y);
  for (int64_t position = 0; position < window.positions(); ++position) {
    const auto cells = window.cells(position);
    for_each_plane(x, [&](int64_t number) {
      const double mean = sum_over(cells, plane(x, 0, number)) / divisor(op, cells);
      plane(y, 0, number)[static_cast<size_t>(position)] = static_cast<float>(mean);
    });
  }
}

void average_pool_backward(const AveragePool& op, const Tensor& dy, Tensor& dx) {
  SlidingWindow window = window_of(op, dx, dy);
  Sums sums(dx);
  for (int64_t position = 0; position < window.positions(); ++position) {
    const auto cells = window.cells(position);
    for_each_plane(dx, [&](int64_t number) {
      const double gradient = plane(dy, 0, number)[static_cast<size_t>(position)];
      add_to(cells, gradient / divisor(op, cells), sums.plane(number));
    });
  }
  sums.store();
}

void adaptive_average_pool(const Tensor& x, Tensor& y) {
  for (int64_t position = 0; position < layout_of(y).cells; ++position) {
    const auto cells = adaptive_cells(position, spatial(x.shape()), spatial(y.shape()));
    for_each_plane(x, [&](int64_t number) {
      const double mean = sum_over(cells, plane(x, 0, number)) / static_cast<double>(cells.size());
      plane(y, 0, number)[static_cast<size_t>(position)] = static_cast<float>(mean);
    });
  }
}

void adaptive_average_pool_backward(const Tensor& dy, Tensor& dx) {
  Sums sums(dx);
  for (int64_t position = 0; position < layout_of(dy).cells; ++position) {
    const auto cells = adaptive_cells(position, spatial(dx.shape()), spatial(dy.shape()));
    for_each_plane(dx, [&](int64_t number) {
      const double gradient = plane(dy, 0, number)[static_cast<size_t>(position)];
      add_to(cells, gradient / static_cast<double>(cells.size()), sums.plane(number));
    });
  }
  sums.store();
}

}  // namespace tacho::reference
