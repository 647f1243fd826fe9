#include "volume/organelles.h"

#include <algorithm>
#include <cmath>

namespace tacho {
namespace {

constexpr float kMitochondrionSpacing = 80, kMitochondrionLength = 42;
constexpr float kClusterSpacing = 100, kClusterRadius = 26, kVesicleRadius = 4.5f;
constexpr uint64_t kVesicles = 110;

struct Owner {
  uint64_t id;
  float room;  // to its membrane
};

Owner owner_of(const Neurons& neurons, const Place& place) {
  const auto nearest = [](float at) { return static_cast<int64_t>(std::lround(at)); };
  const Point voxel = {nearest(place.z / kSection), nearest(place.y), nearest(place.x)};
  const NeuronMap map = neurons.map({voxel, {voxel[0] + 1, voxel[1] + 1, voxel[2] + 1}});
  return {map.ids[0], map.membrane[0]};
}

// Calls action(value of the image, way from the centre) for the neuron's voxels of the map within `reach` of
// the centre along each axis.
template<typename Action>
void for_each_voxel(const NeuronMap& map, std::span<float> image, uint64_t neuron, const Place& centre,
                    float reach, const Action& action) {
  const auto low = [&](float at) { return static_cast<int64_t>(std::ceil(at)); };
  const Box around = {{low((centre.z - reach) / kSection), low(centre.y - reach), low(centre.x - reach)},
                      {low((centre.z + reach) / kSection), low(centre.y + reach), low(centre.x + reach)}};
  const Point size = map.box.size(), begin = map.box.begin;
  const Box part = intersection(around, map.box);
  if (voxels(part) == 0) return;
  for_each_node(part, [&](const Point& at) {
    const int64_t row = (at[0] - begin[0]) * size[1] + at[1] - begin[1];
    const auto i = static_cast<size_t>(row * size[2] + at[2] - begin[2]);
    if (map.ids[i] == neuron) action(image[i], place_of(at) - centre);
  });
}

// A dark ellipsoid with a darker rim and folds across.
void draw_mitochondrion(const Neurons& neurons, const Random& own, const Place& centre, const NeuronMap& map,
                        std::span<float> image) {
  const Owner owner = owner_of(neurons, centre);
  if (owner.room < 6 || owner.room > 1e6f) return;
  const Place axis = direction_from(own, 10);
  const float radius = std::min(owner.room + 3, 8 + 6 * own.uniform(4));
  const float length = radius + (kMitochondrionLength - radius) * own.uniform(5);
  const float folds = 0.7f + 0.4f * own.uniform(6), grey = 100 + 20 * own.uniform(7);
  for_each_voxel(map, image, owner.id, centre, length, [&](float& value, const Place& way) {
    const float along = way.dot(axis), across = way.dot(way) - along * along;
    const float out =
        std::sqrt(along * along / (length * length) + std::max(0.0f, across) / (radius * radius));
    if (out > 1) return;
    const float inside = grey + 14 * std::sin(folds * along + 0.12f * way.y);
    value = out > 0.85f ? 0.65f * grey : inside;
  });
}

// Rings, each in one section.
void draw_vesicles(const Neurons& neurons, const Random& own, const Place& centre, const NeuronMap& map,
                   std::span<float> image) {
  const Owner owner = owner_of(neurons, centre);
  if (owner.room > 1e6f) return;
  for (uint64_t i = 0; i < kVesicles; ++i) {
    const Random vesicle = own.stream(i);
    const Place way = direction_from(vesicle, 0);
    const float far = kClusterRadius * std::cbrt(vesicle.uniform(6));
    const float section = kSection * std::round((centre.z + far * way.z) / kSection);
    const Place middle = {section, centre.y + far * way.y, centre.x + far * way.x};
    const float radius = kVesicleRadius * (0.7f + 0.3f * vesicle.uniform(7));
    for_each_voxel(map, image, owner.id, middle, radius, [&](float& value, const Place& from) {
      const float out = std::hypot(from.y, from.x) / radius;
      if (from.z == 0 && out < 1) value -= out > 0.55f ? 45 : 5;
    });
  }
}

}  // namespace

void draw_organelles(const Neurons& neurons, const Random& random, const NeuronMap& map,
                     std::span<float> image) {
  const Random mitochondria = random.stream("mitochondria"), clusters = random.stream("vesicles");
  for_each_node(nodes_around(map.box, kMitochondrionSpacing, kMitochondrionLength), [&](const Point& node) {
    const Random own = mitochondria.stream(number_of(node));
    if (own.uniform(3) > 0.7f) return;
    draw_mitochondrion(neurons, own, place_in(node, kMitochondrionSpacing, 1, own), map, image);
  });
  const float reach = kClusterRadius + kVesicleRadius + kSection;
  for_each_node(nodes_around(map.box, kClusterSpacing, reach), [&](const Point& node) {
    const Random own = clusters.stream(number_of(node));
    if (own.uniform(3) > 0.6f) return;
    draw_vesicles(neurons, own, place_in(node, kClusterSpacing, 1, own), map, image);
  });
}

}  // namespace tacho
