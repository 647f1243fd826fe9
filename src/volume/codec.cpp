#include "volume/codec.h"

#include <blosc.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cassert>
#include <cstring>

#include "base/error.h"
#include "base/json_values.h"

namespace tacho {
namespace {

// Fast levels: prediction makes chunks beside the network that needs the cores.
constexpr int kZlibLevel = 1, kZstdLevel = 1, kBloscLevel = 5;
constexpr const char* kBloscCodec = BLOSC_LZ4_COMPNAME;

using Bytes = std::vector<std::byte>;

// In the order of the enumeration.
constexpr std::array<std::string_view, 5> kNames = {"none", "zlib", "gzip", "zstd", "blosc"};

[[noreturn]] void refuse_size(size_t found, size_t expected) {
  throw UserError("holds {} bytes where {} are expected", found, expected);
}

const Bytef* input(std::span<const std::byte> bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }
Bytef* output(std::span<std::byte> bytes) { return reinterpret_cast<Bytef*>(bytes.data()); }

// What zlib adds to its number for the window so that it writes gzip, or reads either.
enum DeflateFormat { kZlibFormat = 0, kGzipFormat = 16, kEitherFormat = 32 };

Bytes deflate_bytes(std::span<const std::byte> bytes, DeflateFormat format) {
  z_stream stream = {};
  int status = deflateInit2(&stream, kZlibLevel, Z_DEFLATED, MAX_WBITS + format, 8, Z_DEFAULT_STRATEGY);
  if (status != Z_OK) throw std::bad_alloc();
  Bytes encoded(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(input(bytes));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = output(encoded);
  stream.avail_out = static_cast<uInt>(encoded.size());
  status = deflate(&stream, Z_FINISH);
  assert(status == Z_STREAM_END);
  encoded.resize(stream.total_out);
  deflateEnd(&stream);
  return encoded;
}

void inflate_bytes(std::span<const std::byte> stored, std::span<std::byte> decoded) {
  z_stream stream = {};
  if (inflateInit2(&stream, MAX_WBITS + kEitherFormat) != Z_OK) throw std::bad_alloc();
  stream.next_in = const_cast<Bytef*>(input(stored));
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = output(decoded);
  stream.avail_out = static_cast<uInt>(decoded.size());
  const int status = inflate(&stream, Z_FINISH);
  const std::string reason = stream.msg != nullptr ? stream.msg : "cut off";
  const size_t size = stream.total_out;
  const bool goes_on = stream.avail_out == 0 && stream.avail_in > 0;
  inflateEnd(&stream);
  if (status == Z_BUF_ERROR && goes_on) throw UserError("holds more than {} bytes", size);
  if (status != Z_STREAM_END) throw UserError("cannot be decompressed ({})", reason);
  if (size != decoded.size()) refuse_size(size, decoded.size());
}

Bytes zstd_encode(std::span<const std::byte> bytes) {
  Bytes encoded(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(encoded.data(), encoded.size(), bytes.data(), bytes.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  encoded.resize(size);
  return encoded;
}

void zstd_decode(std::span<const std::byte> stored, std::span<std::byte> decoded) {
  const size_t size = ZSTD_decompress(decoded.data(), decoded.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0) throw UserError("cannot be decompressed ({})", ZSTD_getErrorName(size));
  if (size != decoded.size()) refuse_size(size, decoded.size());
}

// With one thread: how blosc cuts its blocks up, and so the bytes, would depend on their number.
Bytes blosc_encode(std::span<const std::byte> bytes, size_t element_bytes) {
  Bytes encoded(bytes.size() + BLOSC_MAX_OVERHEAD);
  const int size = blosc_compress_ctx(kBloscLevel, BLOSC_SHUFFLE, element_bytes, bytes.size(), bytes.data(),
                                      encoded.data(), encoded.size(), kBloscCodec, 0, 1);
  if (size <= 0) throw std::bad_alloc();
  encoded.resize(static_cast<size_t>(size));
  return encoded;
}

void blosc_decode(std::span<const std::byte> stored, std::span<std::byte> decoded) {
  size_t size = 0;
  if (blosc_cbuffer_validate(stored.data(), stored.size(), &size) != 0) {
    throw UserError("is no whole blosc buffer");
  }
  if (size != decoded.size()) refuse_size(size, decoded.size());
  if (blosc_decompress_ctx(stored.data(), decoded.data(), decoded.size(), 1) != static_cast<int>(size)) {
    throw UserError("cannot be decompressed (blosc)");
  }
}

void copy_bytes(std::span<const std::byte> stored, std::span<std::byte> decoded) {
  if (stored.size() != decoded.size()) refuse_size(stored.size(), decoded.size());
  if (!stored.empty()) std::memcpy(decoded.data(), stored.data(), stored.size());
}

}  // namespace

std::string_view name_of(Compression compression) { return kNames.at(static_cast<size_t>(compression)); }

std::string list_of_compressions() {
  return fmt::format("{} or {}", fmt::join(kNames.begin(), kNames.end() - 1, ", "), kNames.back());
}

Compression parse_compression(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Compression>(i);
  }
  throw UserError("compression '{}' is unknown; there are {}", name, list_of_compressions());
}

Json compressor_json(Compression compression) {
  switch (compression) {
    case Compression::none: return nullptr;
    case Compression::zlib: return {{"id", "zlib"}, {"level", kZlibLevel}};
    case Compression::gzip: return {{"id", "gzip"}, {"level", kZlibLevel}};
    case Compression::zstd: return {{"id", "zstd"}, {"level", kZstdLevel}};
    case Compression::blosc: break;
  }
  return {{"id", "blosc"},
          {"cname", kBloscCodec},
          {"clevel", kBloscLevel},
          {"shuffle", BLOSC_SHUFFLE},
          {"blocksize", 0}};
}

Bytes encode(Compression compression, std::span<const std::byte> bytes, size_t element_bytes) {
  assert(bytes.size() <= static_cast<size_t>(kMostChunkBytes));
  switch (compression) {
    case Compression::none: break;
    case Compression::zlib: return deflate_bytes(bytes, kZlibFormat);
    case Compression::gzip: return deflate_bytes(bytes, kGzipFormat);
    case Compression::zstd: return zstd_encode(bytes);
    case Compression::blosc: return blosc_encode(bytes, element_bytes);
  }
  return {bytes.begin(), bytes.end()};
}

void decode(Compression compression, std::span<const std::byte> stored, std::span<std::byte> decoded) {
  switch (compression) {
    case Compression::none: return copy_bytes(stored, decoded);
    case Compression::zlib:
    case Compression::gzip: return inflate_bytes(stored, decoded);
    case Compression::zstd: return zstd_decode(stored, decoded);
    case Compression::blosc: return blosc_decode(stored, decoded);
  }
}

uint32_t crc32_of(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, input(bytes), bytes.size()));
}

}  // namespace tacho
