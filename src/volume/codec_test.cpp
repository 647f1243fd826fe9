#include "volume/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json_values.h"
#include "volume/test_voxels.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class Codec : public testing::TestWithParam<Compression> {
 protected:
  // What decode() says; empty where it is content.
  std::string problem(std::span<const std::byte> stored, size_t size) const {
    try {
      Bytes decoded(size);
      decode(GetParam(), stored, decoded);
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }
  Bytes encoded(const Bytes& bytes, size_t element_bytes = 4) const {
    return encode(GetParam(), bytes, element_bytes);
  }
};

TEST_P(Codec, GivesBackWhatItTook) {
  for (const int64_t count : {1, 2, 7, 1000, 100'003}) {
    for (const VoxelType type : kVoxelTypes) {
      const Bytes bytes = voxels_of(type, count);
      Bytes decoded(bytes.size());
      decode(GetParam(), encoded(bytes, size_of(type)), decoded);
      EXPECT_EQ(decoded, bytes) << count << " " << name_of(type);
    }
  }
}

TEST_P(Codec, TheSameBytesGiveTheSame) {
  const Bytes bytes = voxels_of(VoxelType::f32, 100'000);
  EXPECT_EQ(encoded(bytes), encoded(bytes));
}

TEST_P(Codec, RefusesWhatIsCutOffAnywhere) {
  const Bytes stored = encoded(voxels_of(VoxelType::f32, 1000));
  for (size_t size = 0; size < stored.size(); size += std::max<size_t>(1, stored.size() / 97)) {
    EXPECT_NE(problem(std::span(stored).first(size), 4000), "") << size;
  }
  EXPECT_NE(problem(std::span(stored).first(stored.size() - 1), 4000), "");
}

TEST_P(Codec, RefusesAnotherSizeThanExpected) {
  const Bytes stored = encoded(voxels_of(VoxelType::f32, 1000));
  EXPECT_NE(problem(stored, 3996), "");
  EXPECT_THAT(problem(stored, 4004), HasSubstr("4000 bytes where 4004 are expected"));
}

TEST_P(Codec, SurvivesBytesThatAreDamaged) {
  const Bytes stored = encoded(voxels_of(VoxelType::f32, 1000));
  const Random random(5);
  for (uint64_t i = 0; i < 2000; ++i) {
    Bytes damaged = stored;
    for (uint64_t j = 0; j < 1 + i % 3; ++j) {
      damaged[random.bits(7 * i + j) % stored.size()] = static_cast<std::byte>(random.bits(1000 + 7 * i + j));
    }
    problem(damaged, 4000);  // nothing outside of its buffer: the sanitizers' matter
  }
}

std::string name_of_test(const testing::TestParamInfo<Compression>& info) {
  return std::string(name_of(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, Codec,
                         testing::Values(Compression::none, Compression::zlib, Compression::gzip,
                                         Compression::zstd, Compression::blosc),
                         name_of_test);

TEST(Compressions, AreParsedByTheirNames) {
  EXPECT_EQ(parse_compression("zstd"), Compression::zstd);
  EXPECT_THAT([] { parse_compression("lzma"); },
              ThrowsMessage<UserError>(HasSubstr("'lzma' is unknown; there are none,")));
}

TEST(Compressions, MakeVoxelsSmaller) {
  const Bytes bytes(100'000);
  for (const char* name : {"zlib", "gzip", "zstd", "blosc"}) {
    EXPECT_LT(encode(parse_compression(name), bytes, 4).size(), 2000U) << name;
  }
}

// Other readers tell them by these: this one takes either.
TEST(Compressions, OfDeflateBeginAsTheirFormatsDo) {
  const Bytes bytes(100);
  EXPECT_EQ(encode(Compression::zlib, bytes, 1)[0], std::byte{0x78});
  EXPECT_EQ(encode(Compression::gzip, bytes, 1)[0], std::byte{0x1f});
}

TEST(Compressions, AreNamedAsZarrNamesThem) {
  EXPECT_TRUE(compressor_json(Compression::none).is_null());
  EXPECT_EQ(compressor_json(Compression::blosc)["cname"], "lz4");
  EXPECT_EQ(compressor_json(Compression::gzip)["id"], "gzip");
}

TEST(Crc32, IsTheOneOfZlib) {
  EXPECT_EQ(crc32_of(bytes_of<char>({'1', '2', '3', '4', '5', '6', '7', '8', '9'})), 0xcbf43926U);
}

}  // namespace
}  // namespace tacho
