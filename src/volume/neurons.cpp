#include "volume/neurons.h"

#include <algorithm>
#include <array>
#include <limits>

namespace tacho {
namespace {

// A neuron is what is nearest to its centre, made of small cells so that it has no flat sides; space is bent
// before.
constexpr float kNeuronSpacing = 56, kCellSpacing = 26;
constexpr float kBend = 9, kRipple = 2;
constexpr std::array<float, 3> kBendSpacing = {12, 60, 60}, kRippleSpacing = {3, 13, 13};
constexpr float kMostBend = SmoothNoise::kMost * (kBend + kRipple);
// How many neighbours of a node may have the nearest centre.
constexpr int64_t kNeuronReach = 2;
constexpr float kCellMargin = kMostBend + kCellSpacing;
constexpr float kCentreMargin =
    kCellMargin + 2 * kCellSpacing + static_cast<float>(kNeuronReach) * kNeuronSpacing;
// Half of what a section shows through its thickness.
constexpr float kSeenThrough = 2;

// A neuron reaches further along its axis.
struct Centre {
  Place place, axis;
  float stretch, bonus;
  uint64_t id;

  float distance(const Place& from) const {
    const Place way = from - place;
    const float along = way.dot(axis);
    return way.dot(way) - stretch * along * along - bonus;
  }
};

// What a lattice has at the nodes of a box.
template<typename T>
class NodeTable {
 public:
  template<typename Make>
  NodeTable(const Box& nodes, const Make& make) : nodes_(nodes) {
    values_.reserve(static_cast<size_t>(voxels(nodes)));
    for_each_node(nodes, [&](const Point& node) { values_.push_back(make(node)); });
  }

  const T& at(int64_t z, int64_t y, int64_t x) const {
    const Point size = nodes_.size();
    const int64_t row = (z - nodes_.begin[0]) * size[1] + y - nodes_.begin[1];
    return values_[static_cast<size_t>(row * size[2] + x - nodes_.begin[2])];
  }

 private:
  Box nodes_;
  std::vector<T> values_;
};

int64_t node_at(float at, float spacing) { return static_cast<int64_t>(std::floor(at / spacing)); }

Centre make_centre(const Point& node, const Random& random, uint64_t id) {
  const float size = random.uniform(3);
  return {place_in(node, kNeuronSpacing, 1, random), direction_from(random, 10),
          0.6f + 0.35f * random.uniform(4), 1500 * size * size, id};
}

uint64_t nearest_neuron(const Place& place, const NodeTable<Centre>& centres) {
  const Point middle = {node_at(place.z, kNeuronSpacing), node_at(place.y, kNeuronSpacing),
                        node_at(place.x, kNeuronSpacing)};
  float least = std::numeric_limits<float>::max();
  uint64_t nearest = 0;
  Box around;
  for (size_t axis = 0; axis < middle.size(); ++axis) {
    around.begin[axis] = middle[axis] - kNeuronReach;
    around.end[axis] = middle[axis] + kNeuronReach + 1;
  }
  for_each_node(around, [&](const Point& node) {
    const Centre& centre = centres.at(node[0], node[1], node[2]);
    const float distance = centre.distance(place);
    if (distance < least) nearest = centre.id;
    least = std::min(least, distance);
  });
  return nearest;
}

}  // namespace

// One of the small cells: where it is, how much larger than others, and the neuron that it is part of.
struct Neurons::Seed {
  Place place;
  float bonus;
  uint64_t id;
};

class Neurons::SeedTable : public NodeTable<Seed> {
 public:
  using NodeTable::NodeTable;
};

namespace {

// The cells around a node, side by side so that the compiler can treat several at once.
struct Neighbours {
  static constexpr size_t kCount = 27, kPadded = 28;
  std::array<float, kPadded> z = {}, y = {}, x = {}, bonus = {};
  std::array<uint32_t, kPadded> neuron = {};
  std::array<uint64_t, kPadded> id = {};

  template<typename Table>
  void take(const Table& seeds, const Point& node) {
    bonus.back() = -1e12f;  // what pads is never the nearest
    size_t i = 0;
    const Box around = {{node[0] - 1, node[1] - 1, node[2] - 1}, {node[0] + 2, node[1] + 2, node[2] + 2}};
    for_each_node(around, [&](const Point& at) {
      const auto& seed = seeds.at(at[0], at[1], at[2]);
      z[i] = seed.place.z, y[i] = seed.place.y, x[i] = seed.place.x, bonus[i] = seed.bonus;
      neuron[i] = static_cast<uint32_t>(seed.id), id[i] = seed.id;
      ++i;
    });
  }
};

struct Nearest {
  uint64_t id;
  float membrane;
};

// The membrane is the plane between the nearest cell and the one of another neuron whose plane is nearest.
Nearest nearest_of(const Neighbours& cells, const Place& place) {
  std::array<float, Neighbours::kPadded> distance;
  for (size_t i = 0; i < distance.size(); ++i) {
    const float z = cells.z[i] - place.z, y = cells.y[i] - place.y, x = cells.x[i] - place.x;
    distance[i] = z * z + y * y + x * x - cells.bonus[i];
  }
  const auto own = static_cast<size_t>(std::ranges::min_element(distance) - distance.begin());
  const float own_distance = distance[own], own_z = cells.z[own], own_y = cells.y[own], own_x = cells.x[own];
  const uint32_t own_neuron = cells.neuron[own];
  for (size_t i = 0; i < distance.size(); ++i) {
    const float z = cells.z[i] - own_z, y = cells.y[i] - own_y, x = cells.x[i] - own_x;
    const float apart = std::sqrt(z * z + y * y + x * x) + 1e-3f;
    const float to_plane = (0.5f * (distance[i] - own_distance) - kSeenThrough * std::abs(z)) / apart;
    distance[i] = cells.neuron[i] == own_neuron ? 1e9f : to_plane;
  }
  return {cells.id[own], std::max(0.0f, *std::ranges::min_element(distance))};
}

std::array<SmoothNoise, 3> noise_along_axes(const Random& random, const std::array<float, 3>& spacing) {
  return {SmoothNoise(random.stream(0), spacing), SmoothNoise(random.stream(1), spacing),
          SmoothNoise(random.stream(2), spacing)};
}

}  // namespace

Neurons::Neurons(const Point& shape, const Random& random)
    : nodes_(nodes_around(whole(shape), kNeuronSpacing, kCentreMargin).size()),
      seeds_(random.stream("cells")),
      centres_(random.stream("neurons")),
      bends_(noise_along_axes(random.stream("bends"), kBendSpacing)),
      ripples_(noise_along_axes(random.stream("ripples"), kRippleSpacing)) {}

// From 1 on, as CREMI counts.
uint64_t Neurons::id_of(const Point& node) const {
  const Point first = nodes_around({}, kNeuronSpacing, kCentreMargin).begin;
  const int64_t row = (node[0] - first[0]) * nodes_[1] + node[1] - first[1];
  return static_cast<uint64_t>(1 + row * nodes_[2] + node[2] - first[2]);
}

NeuronMap Neurons::map(const Box& box) const {
  const NodeTable<Centre> centres(nodes_around(box, kNeuronSpacing, kCentreMargin), [&](const Point& node) {
    return make_centre(node, centres_.stream(number_of(node)), id_of(node));
  });
  const SeedTable seeds(nodes_around(box, kCellSpacing, kCellMargin), [&](const Point& node) {
    const Random own = seeds_.stream(number_of(node));
    const Place place = place_in(node, kCellSpacing, 0.8f, own);
    return Seed{place, 150 * own.uniform(3), nearest_neuron(place, centres)};
  });

  NeuronMap map = {box, std::vector<uint64_t>(static_cast<size_t>(voxels(box))), {}};
  map.membrane.resize(map.ids.size());
  const auto width = static_cast<size_t>(box.size()[2]);
  size_t at = 0;
  for (int64_t z = box.begin[0]; z < box.end[0]; ++z) {
    for (int64_t y = box.begin[1]; y < box.end[1]; ++y, at += width) {
      map_row({z, y, box.begin[2]}, seeds, std::span(map.ids).subspan(at, width),
              std::span(map.membrane).subspan(at, width));
    }
  }
  return map;
}

void Neurons::map_row(const Point& begin, const SeedTable& seeds, std::span<uint64_t> ids,
                      std::span<float> membrane) const {
  std::array<std::vector<float>, 3> bent;
  for (size_t axis = 0; axis < bent.size(); ++axis) {
    bent[axis].resize(ids.size());
    bends_[axis].add_row(begin, kBend, bent[axis]);
    ripples_[axis].add_row(begin, kRipple, bent[axis]);
  }
  Neighbours neighbours;
  std::optional<Point> node_before;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Place straight = place_of({begin[0], begin[1], begin[2] + static_cast<int64_t>(i)});
    const Place place = {straight.z + bent[0][i], straight.y + bent[1][i], straight.x + bent[2][i]};
    const Point node = {node_at(place.z, kCellSpacing), node_at(place.y, kCellSpacing),
                        node_at(place.x, kCellSpacing)};
    if (node_before != node) neighbours.take(seeds, node);
    node_before = node;
    const Nearest nearest = nearest_of(neighbours, place);
    ids[i] = nearest.id;
    membrane[i] = nearest.membrane;
  }
}

}  // namespace tacho
