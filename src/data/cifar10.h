#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "data/data_set.h"

namespace tacho {

inline constexpr int64_t kCifarClasses = 10, kCifarSide = 32, kCifarPixels = 3 * kCifarSide * kCifarSide;
inline constexpr int64_t kCifarRecordBytes = 1 + kCifarPixels;
inline constexpr int64_t kCifarRecordsPerFile = 10'000;
inline constexpr std::array<std::string_view, 5> kCifarTrainFiles = {
    "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
inline constexpr std::string_view kCifarTestFile = "test_batch.bin";

// The six files of CIFAR-10's binary format: a record is the label, then the red, green and blue plane.
// Throws UserError with the file and record where something is missing, cut off or no label.
DataSet read_cifar10(const std::filesystem::path& folder);

// Writes such files of made-up images whose class can be learnt: `records` in each of them.
void make_cifar10(const std::filesystem::path& folder, int64_t records, uint64_t seed);

}  // namespace tacho
