#include "tensors/safetensors.h"

#include <algorithm>
#include <bit>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "tensors/input_file.h"
#include "tensors/safetensors_header.h"

namespace tacho {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

constexpr uint64_t kLargestSafetensorsHeader = 100'000'000;

std::string read_safetensors_header(InputFile& file) {
  uint64_t length = 0;
  if (file.remaining() < sizeof length) {
    throw UserError(
        "{}: {} bytes are too few for a safetensors file, which begins with the 8-byte length of its header",
        file.name(), file.bytes());
  }
  file.read(std::as_writable_bytes(std::span(&length, 1)));
  if (length > kLargestSafetensorsHeader) {
    throw UserError("{}: a header of {} bytes is absurd (at most {}): not a safetensors file", file.name(),
                    length, kLargestSafetensorsHeader);
  }
  if (length > file.remaining()) {
    throw UserError("{}: the header should have {} bytes, but the file ends after {} of them", file.name(),
                    length, file.remaining());
  }
  return file.read_text(length);
}

// Wide types first, so that every tensor is aligned to its own type.
std::vector<TensorEntry> lay_out(const Weights& weights) {
  std::vector<TensorEntry> entries;
  for (const auto& [name, tensor] : weights) entries.push_back({name, tensor.dtype(), tensor.shape()});
  std::ranges::stable_sort(entries, std::greater<>(), [](const TensorEntry& e) { return size_of(e.dtype); });
  uint64_t position = 0;
  for (TensorEntry& entry : entries) {
    entry.begin = position;
    position += weights.at(entry.name).bytes();
    entry.end = position;
  }
  return entries;
}

}  // namespace

Weights read_safetensors(const std::filesystem::path& path) {
  InputFile file(path);
  const std::string header = read_safetensors_header(file);
  Weights weights;
  for (TensorEntry& entry : parse_safetensors_header(header, file.remaining(), file.name())) {
    Tensor tensor(std::move(entry.shape), entry.dtype);
    file.read({tensor.raw(), tensor.bytes()});
    weights.emplace(std::move(entry.name), std::move(tensor));
  }
  return weights;
}

void write_safetensors(const std::filesystem::path& path, const Weights& weights) {
  const std::vector<TensorEntry> entries = lay_out(weights);
  const std::string header = make_safetensors_header(entries);
  const uint64_t length = header.size();
  write_file_atomically(path, [&](const ByteSink& sink) {
    sink(std::as_bytes(std::span(&length, 1)));
    sink(std::as_bytes(std::span(header)));
    for (const TensorEntry& entry : entries) {
      const Tensor& tensor = weights.at(entry.name);
      sink({tensor.raw(), tensor.bytes()});
    }
  });
}

}  // namespace tacho
