#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/random.h"
#include "volume/volume.h"

// Voxels and their bytes, for tests.
namespace tacho {

using Bytes = std::vector<std::byte>;

template<typename T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// Values from 0 to 255 in every type, which are neither all the same nor hard to compress.
inline Bytes voxels_of(VoxelType type, int64_t count, uint64_t seed = 0) {
  const Random random(seed);
  Bytes bytes(static_cast<size_t>(count) * size_of(type));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto value = static_cast<uint8_t>(i / 3 + random.bits(i) % 4);
    if (type == VoxelType::f32) {
      const float number = static_cast<float>(value) / 7.0f;
      std::memcpy(&bytes[i * sizeof(float)], &number, sizeof(float));
    } else {
      bytes[i * size_of(type)] = std::byte{value};  // little-endian
    }
  }
  return bytes;
}

inline Bytes read_box(Volume& volume, const Box& box) {
  Bytes bytes(static_cast<size_t>(voxels(box)) * size_of(volume.info().type));
  volume.read(box, bytes);
  return bytes;
}

inline Bytes read_all(Volume& volume) { return read_box(volume, whole(volume.info().shape)); }

}  // namespace tacho
