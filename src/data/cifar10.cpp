#include "data/cifar10.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.h"
#include "tensors/input_file.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

int64_t count_records(const InputFile& file) {
  const auto bytes = static_cast<int64_t>(file.bytes());
  const int64_t records = bytes / kCifarRecordBytes;
  if (bytes == 0 || bytes % kCifarRecordBytes != 0) {
    throw UserError("{}: {} bytes are no whole number of records of {} bytes: cut off, or not CIFAR-10",
                    file.name(), bytes, kCifarRecordBytes);
  }
  return records;
}

void read_record(InputFile& file, int64_t record, std::span<std::byte> pixels, int64_t& label) {
  std::byte first{};
  file.read({&first, 1});
  label = std::to_integer<int64_t>(first);
  if (label >= kCifarClasses) {
    throw UserError("{}: record {} has label {}; CIFAR-10 has 0 to {}", file.name(), record, label,
                    kCifarClasses - 1);
  }
  file.read(pixels);
}

ImageSet read_files(const fs::path& folder, std::span<const std::string_view> names) {
  std::vector<InputFile> files;
  int64_t total = 0;
  for (const std::string_view name : names) {
    const int64_t records = count_records(files.emplace_back(folder / name));
    const int64_t expected = count_records(files.front());
    if (records != expected) {
      throw UserError("{}: {} records, but {} has {}", files.back().name(), records, files.front().name(),
                      expected);
    }
    total += records;
  }
  require_memory_for(total, kCifarRecordBytes);
  ImageSet set = {Tensor({total, 3, kCifarSide, kCifarSide}, DType::u8),
                  std::vector<int64_t>(static_cast<size_t>(total))};
  size_t at = 0;
  for (InputFile& file : files) {
    for (int64_t record = 0; file.remaining() > 0; ++record, ++at) {
      std::byte* pixels = set.images.raw() + at * static_cast<size_t>(kCifarPixels);
      read_record(file, record, {pixels, static_cast<size_t>(kCifarPixels)}, set.labels[at]);
    }
  }
  return set;
}

}  // namespace

DataSet read_cifar10(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw UserError(
        "--data cifar10:{}: no directory; scripts/fetch-cifar10 or 'tacho data make cifar10' makes one",
        folder.string());
  }
  if (access(folder.c_str(), X_OK) != 0) {
    throw UserError("--data cifar10:{}: the directory cannot be read: {}", folder.string(),
                    std::strerror(errno));
  }
  return {.name = "cifar10",
          .classes = kCifarClasses,
          .train = read_files(folder, kCifarTrainFiles),
          .test = read_files(folder, {&kCifarTestFile, 1}),
          .normalization = {{0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}},
          .default_augmentation = "crop,flip"};
}

}  // namespace tacho
