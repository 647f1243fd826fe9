#include "tensors/npy.h"

#include <array>
#include <cassert>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "tensors/input_file.h"
#include "tensors/npy_header.h"

namespace tacho {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr size_t kAlignment = 64;  // of the data in the file, as NumPy writes it
constexpr size_t kLargestNpyHeader = 1 << 20;

std::string take(InputFile& file, size_t length) {
  if (file.remaining() < length)
    throw UserError("{}: truncated: the file ends inside the npy header", file.name());
  return file.read_text(length);
}

size_t little_endian(std::string_view bytes) {
  size_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string read_npy_header(InputFile& file) {
  if (file.bytes() < kMagic.size() || take(file, kMagic.size()) != kMagic) {
    throw UserError("{}: not an npy file, which begins with \\x93NUMPY", file.name());
  }
  const std::string version = take(file, 2);
  const int major = static_cast<unsigned char>(version[0]), minor = static_cast<unsigned char>(version[1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw UserError("{}: npy format {}.{} is not supported: 1.0, 2.0 or 3.0 is", file.name(), major, minor);
  }
  const size_t length = little_endian(take(file, major == 1 ? 2 : 4));
  if (length > kLargestNpyHeader) {
    throw UserError("{}: an npy header of {} bytes is absurd (at most {})", file.name(), length,
                    kLargestNpyHeader);
  }
  return take(file, length);
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  NpyHeader header = parse_npy_header(read_npy_header(file), file.name());
  const uint64_t needed = static_cast<uint64_t>(elements(header.shape)) * size_of(header.dtype);
  if (file.remaining() != needed) {
    throw UserError("{}: {}: shape {} of {} needs {} bytes of data, the file holds {}", file.name(),
                    file.remaining() < needed ? "truncated" : "trailing bytes", to_string(header.shape),
                    name_of(header.dtype), needed, file.remaining());
  }
  Tensor tensor(std::move(header.shape), header.dtype);
  file.read({tensor.raw(), tensor.bytes()});
  return tensor;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  std::string header = make_npy_header({tensor.dtype(), tensor.shape()});
  const size_t prefix = kMagic.size() + 4;  // and behind the magic: version, length
  const size_t padded = (prefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - prefix;
  assert(padded <= 0xffff);
  header.resize(padded - 1, ' ');
  header += '\n';
  const std::array version_and_length = {'\x01', '\x00', static_cast<char>(padded & 0xff),
                                         static_cast<char>(padded >> 8)};
  write_file_atomically(path, [&](const ByteSink& sink) {
    sink(std::as_bytes(std::span(kMagic)));
    sink(std::as_bytes(std::span(version_and_length)));
    sink(std::as_bytes(std::span(header)));
    sink({tensor.raw(), tensor.bytes()});
  });
}

}  // namespace tacho
