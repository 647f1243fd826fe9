#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tacho {

// How a voxel is stored. u32, u64 and i64 are for labels.
enum class VoxelType { u8, u16, u32, u64, i64, f32 };

inline constexpr std::array kVoxelTypes = {VoxelType::u8,  VoxelType::u16, VoxelType::u32,
                                           VoxelType::u64, VoxelType::i64, VoxelType::f32};

size_t size_of(VoxelType type);
std::string_view name_of(VoxelType type);  // "uint8", as zarr and HDF5's users say

// "uint8, uint16, uint32, uint64, int64 and float32".
std::string list_of_voxel_types();

}  // namespace tacho
