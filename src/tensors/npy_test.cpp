#include "tensors/npy.h"

#include <gmock/gmock.h>

#include "tensors/test_files.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data, char major = 1) {
  const std::string length = major == 1 ? bytes_of(static_cast<uint16_t>(header.size()))
                                        : bytes_of(static_cast<uint32_t>(header.size()));
  return std::string("\x93NUMPY") + major + '\0' + length + header + data;
}

std::string complaint_about_npy(const std::string& content) {
  const TestFile file(content);
  return complaint([&] { read_npy(file.path()); });
}

std::string complaint_about_header(const std::string& header) {
  return complaint_about_npy(file_of(header, std::string(8, '\0')));
}

TEST(Npy, ReadsWhatItWroteInEveryType) {
  const TestFile file;
  write_npy(file.path(), Tensor::from<float>({2, 1, 2}, std::vector{1.f, -2.f, 0.25f, 4.f}));
  EXPECT_EQ(read_npy(file.path()).shape(), (Shape{2, 1, 2}));
  EXPECT_THAT(read_npy(file.path()).values<float>(), ElementsAre(1.f, -2.f, 0.25f, 4.f));
  write_npy(file.path(), Tensor::from<double>({1}, std::vector{1e300}));
  EXPECT_THAT(read_npy(file.path()).values<double>(), ElementsAre(1e300));
  write_npy(file.path(), Tensor::from<int32_t>({2}, std::vector{-1, 2}));
  EXPECT_THAT(read_npy(file.path()).values<int32_t>(), ElementsAre(-1, 2));
  write_npy(file.path(), Tensor::from<int64_t>({}, std::vector<int64_t>{5}));
  EXPECT_EQ(read_npy(file.path()).shape(), Shape{});
  EXPECT_THAT(read_npy(file.path()).values<int64_t>(), ElementsAre(5));
  write_npy(file.path(), Tensor::from<uint8_t>({0, 3}, std::vector<uint8_t>{}));
  EXPECT_EQ(read_npy(file.path()).shape(), (Shape{0, 3}));
}

TEST(Npy, WritesTheHeaderThatNumPyWrites) {
  const TestFile file;
  write_npy(file.path(), Tensor::from<float>({2}, std::vector{1.f, 2.f}));
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const std::string padded = header + std::string(117 - header.size(), ' ') + '\n';
  EXPECT_EQ(file.content(), file_of(padded, bytes_of(1.f) + bytes_of(2.f)));
}

TEST(Npy, ReadsEveryFormatVersion) {
  for (const char major : {1, 2, 3}) {
    const TestFile file(
        file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", bytes_of(3.f), major));
    EXPECT_THAT(read_npy(file.path()).values<float>(), ElementsAre(3.f));
  }
}

TEST(Npy, ReadsKeysInAnyOrderAndWithoutTrailingCommas) {
  const TestFile file(file_of("{\"shape\":(1,2),'fortran_order':False,'descr':'<i4'}", std::string(8, '\0')));
  EXPECT_EQ(read_npy(file.path()).shape(), (Shape{1, 2}));
}

TEST(Npy, RefusesFortranOrder) {
  EXPECT_THAT(complaint_about_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }"),
              HasSubstr("ascontiguousarray"));
}

TEST(Npy, RefusesBigEndianNumbers) {
  EXPECT_THAT(complaint_about_header("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }"),
              HasSubstr("'>f4' is big-endian"));
}

TEST(Npy, RefusesObjectsRecordsAndOtherTypes) {
  EXPECT_THAT(complaint_about_header("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }"),
              HasSubstr("'|O' is not supported"));
  EXPECT_THAT(complaint_about_header("{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }"),
              HasSubstr("'<f2' is not supported"));
  EXPECT_THAT(complaint_about_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }"),
              HasSubstr("simple element type"));
}

TEST(Npy, RefusesAWrongMagicAndAnUnknownVersion) {
  EXPECT_THAT(complaint_about_npy(""), HasSubstr("not an npy file"));
  EXPECT_THAT(complaint_about_npy("PK\x03\x04 a zip file"), HasSubstr("not an npy file"));
  EXPECT_THAT(complaint_about_npy(file_of("{}", "", 4)), HasSubstr("npy format 4.0"));
}

TEST(Npy, RefusesTruncatedAndTrailingData) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_THAT(complaint_about_npy(file_of(header, "1234567")), HasSubstr("truncated"));
  EXPECT_THAT(complaint_about_npy(file_of(header, "123456789")), HasSubstr("trailing bytes"));
}

TEST(Npy, RefusesAnAbsurdHeaderLength) {
  EXPECT_THAT(complaint_about_npy(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), HasSubstr("absurd"));
}

TEST(Npy, RefusesShapesThatCannotBe) {
  const auto with_shape = [](const std::string& shape) {
    return complaint_about_header("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }");
  };
  EXPECT_THAT(with_shape("(-2,)"), HasSubstr("whole numbers from 0 on"));
  EXPECT_THAT(with_shape("(2.5,)"), HasSubstr("malformed"));
  EXPECT_THAT(with_shape("2"), HasSubstr("tuple"));
  EXPECT_THAT(with_shape("(9223372036854775808,)"), HasSubstr("whole numbers"));
  EXPECT_THAT(with_shape("(4294967296, 4294967296)"), HasSubstr("more elements"));
}

TEST(Npy, RefusesAHeaderWithMissingRepeatedOrUnknownKeys) {
  EXPECT_THAT(complaint_about_header("{'descr': '<f4', 'shape': (2,), }"), HasSubstr("once"));
  EXPECT_THAT(
      complaint_about_header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
      HasSubstr("once"));
  EXPECT_THAT(complaint_about_header("{'color': '<f4'}"), HasSubstr("once"));
  EXPECT_THAT(complaint_about_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x"),
              HasSubstr("nothing behind"));
}

TEST(DamagedNpy, IsRefusedWhereverTheFileIsCut) {
  const TestFile file;
  write_npy(file.path(), Tensor({2, 3}, DType::f32));
  const std::string content = file.content();
  for (size_t length = 0; length < content.size(); ++length) {
    file.write(content.substr(0, length));
    EXPECT_THROW(read_npy(file.path()), UserError) << "cut to " << length << " bytes";
  }
}

TEST(DamagedNpy, NeverCrashesTheReaderWhicheverBitIsFlipped) {
  const TestFile file;
  write_npy(file.path(), Tensor({2, 3}, DType::f32));
  const std::string content = file.content();
  for (size_t position = 0; position < content.size(); ++position) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = content;
      damaged[position] = static_cast<char>(damaged[position] ^ (1 << bit));
      file.write(damaged);
      survives([&] { read_npy(file.path()); });
    }
  }
}

}  // namespace
}  // namespace tacho
