#include "volume/tissue.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "volume/organelles.h"

namespace tacho {
namespace {

constexpr float kMembraneGrey = 62, kMembraneHalfWidth = 1.6f, kMembraneFade = 2.4f;

// A neuron's cytoplasm.
float grey_of(uint64_t neuron, const Random& random) { return 155 + 40 * random.uniform(neuron); }

// 1 on the membrane, 0 away from it.
float membrane_at(float distance) {
  const float t = std::clamp((distance - kMembraneHalfWidth) / kMembraneFade, 0.0f, 1.0f);
  return 1 - t * t * (3 - 2 * t);
}

// Nearly normal with deviation 1: the sum of a draw's bytes. What a camera adds needs no better.
float grain(uint64_t bits) {
  int sum = 0;
  for (; bits != 0; bits >>= 8) sum += static_cast<int>(bits & 0xff);
  return static_cast<float>(sum - 1020) / 209.0f;
}

}  // namespace

Tissue::Tissue(const Point& shape, uint64_t seed)
    : random_(Random(seed).stream("tissue")), neurons_(shape, random_) {}

void Tissue::fill(const Box& box, std::span<uint8_t> image, std::span<uint64_t> neuron_ids) const {
  assert(image.size() == static_cast<size_t>(voxels(box)) && neuron_ids.size() == image.size());
  const NeuronMap map = neurons_.map(box);
  std::vector<float> values(image.size());
  const Random greys = random_.stream("greys");
  for (size_t i = 0; i < values.size(); ++i) values[i] = grey_of(map.ids[i], greys);
  draw_organelles(neurons_, random_, map, values);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] += membrane_at(map.membrane[i]) * (kMembraneGrey - values[i]);
  }
  add_texture(map, values);
  for (size_t i = 0; i < values.size(); ++i) {
    image[i] = static_cast<uint8_t>(std::clamp(std::round(values[i]), 0.0f, 255.0f));
  }
  std::ranges::copy(map.ids, neuron_ids.begin());
}

// Cytoplasm is neither even nor smooth, sections differ in brightness, and the camera adds grain.
void Tissue::add_texture(const NeuronMap& map, std::span<float> image) const {
  const SmoothNoise slow(random_.stream("slow"), {8, 45, 45}), fine(random_.stream("fine"), {1, 3.2f, 3.2f});
  const Random sections = random_.stream("sections"), grains = random_.stream("grain");
  const Box& box = map.box;
  const auto width = static_cast<size_t>(box.size()[2]);
  size_t at = 0;
  for (int64_t z = box.begin[0]; z < box.end[0]; ++z) {
    const float section = 5 * (2 * sections.uniform(static_cast<uint64_t>(z)) - 1);
    for (int64_t y = box.begin[1]; y < box.end[1]; ++y, at += width) {
      const std::span<float> row = image.subspan(at, width);
      slow.add_row({z, y, box.begin[2]}, 6, row);
      fine.add_row({z, y, box.begin[2]}, 13, row);
      const Random own = grains.stream(number_of({z, y, 0}));
      for (size_t i = 0; i < width; ++i) {
        row[i] += section + 8 * grain(own.bits(static_cast<uint64_t>(box.begin[2]) + i));
      }
    }
  }
}

}  // namespace tacho
