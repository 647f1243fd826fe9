#include "tensors/safetensors.h"

#include <gmock/gmock.h>

#include "tensors/test_files.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of(const std::string& header, size_t data_bytes) {
  return bytes_of<uint64_t>(header.size()) + header + std::string(data_bytes, '\x01');
}

std::string complaint_about(const std::string& content) {
  const TestFile file(content);
  return complaint([&] { read_safetensors(file.path()); });
}

std::string complaint_about(const std::string& header, size_t data_bytes) {
  return complaint_about(file_of(header, data_bytes));
}

TEST(Safetensors, ReadsWhatItWrote) {
  const TestFile file;
  Weights weights;
  weights["a"] = Tensor::from<uint8_t>({3}, std::vector<uint8_t>{1, 2, 3});
  weights["b"] = Tensor::from<float>({2, 1}, std::vector{0.5f, -2.f});
  weights["c"] = Tensor::from<int64_t>({}, std::vector<int64_t>{-7});
  weights["d"] = Tensor::from<double>({1}, std::vector{1e300});
  weights["e"] = Tensor::from<int32_t>({0, 4}, std::vector<int32_t>{});
  write_safetensors(file.path(), weights);

  const Weights read = read_safetensors(file.path());
  ASSERT_EQ(read.size(), 5u);
  EXPECT_THAT(read.at("a").values<uint8_t>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(read.at("b").shape(), (Shape{2, 1}));
  EXPECT_THAT(read.at("b").values<float>(), ElementsAre(0.5f, -2.f));
  EXPECT_EQ(read.at("c").shape(), Shape{});
  EXPECT_THAT(read.at("c").values<int64_t>(), ElementsAre(-7));
  EXPECT_THAT(read.at("d").values<double>(), ElementsAre(1e300));
  EXPECT_EQ(read.at("e").shape(), (Shape{0, 4}));
}

TEST(Safetensors, AlignsEveryTensorToItsType) {
  const TestFile file;
  Weights weights;
  weights["a"] = Tensor({3}, DType::u8);
  weights["b"] = Tensor::from<double>({1}, std::vector{2.5});
  write_safetensors(file.path(), weights);

  const std::string content = file.content();
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, content.data(), sizeof header_bytes);
  EXPECT_EQ(header_bytes % 8, 0u);
  EXPECT_EQ(content.substr(8 + header_bytes, 8), bytes_of(2.5));
}

TEST(Safetensors, IgnoresMetadata) {
  const TestFile file(
      file_of(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2));
  const Weights weights = read_safetensors(file.path());
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_THAT(weights.at("w").values<uint8_t>(), ElementsAre(1, 1));
}

TEST(Safetensors, ReadsTensorsWhoseHeaderIsInAnotherOrderThanTheirData) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                             R"("b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  const TestFile file(bytes_of<uint64_t>(header.size()) + header + "\x05\x06");
  const Weights weights = read_safetensors(file.path());
  EXPECT_THAT(weights.at("a").values<uint8_t>(), ElementsAre(6));
  EXPECT_THAT(weights.at("b").values<uint8_t>(), ElementsAre(5));
}

TEST(Safetensors, RefusesAMissingFileAndAFolder) {
  EXPECT_THAT(complaint([] { read_safetensors("/nowhere/w.safetensors"); }),
              HasSubstr("/nowhere/w.safetensors"));
  EXPECT_THAT(complaint([] { read_safetensors("/"); }), HasSubstr("not a regular file"));
}

TEST(Safetensors, RefusesAFileTooShortForItsHeader) {
  EXPECT_THAT(complaint_about(""), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(complaint_about("1234567"), HasSubstr("7 bytes are too few"));
  EXPECT_THAT(complaint_about(bytes_of<uint64_t>(50) + "{}"), HasSubstr("ends after 2"));
}

TEST(Safetensors, RefusesAnAbsurdHeaderLength) {
  EXPECT_THAT(complaint_about(bytes_of<uint64_t>(~uint64_t{0}) + "{}"), HasSubstr("absurd"));
  EXPECT_THAT(complaint_about(bytes_of<uint64_t>(100'000'001) + "{}"), HasSubstr("absurd"));
}

TEST(Safetensors, RefusesAHeaderThatIsNotAnObject) {
  EXPECT_THAT(complaint_about("[1,2]", 0), HasSubstr("not a JSON object"));
  EXPECT_THAT(complaint_about("{\"w\":", 0), HasSubstr("not JSON"));
  EXPECT_THAT(complaint_about("", 0), HasSubstr("not JSON"));
  EXPECT_THAT(complaint_about("{\"\xff\":1}", 0), HasSubstr("not JSON"));
}

struct Lie {
  const char* name;
  const char* entry;  // of tensor "w", in a file with 8 bytes of data
  const char* complaint;
};

class SafetensorsLie : public testing::TestWithParam<Lie> {};

TEST_P(SafetensorsLie, IsRefusedByNameOfTheTensor) {
  const std::string text = complaint_about(std::string("{\"w\":") + GetParam().entry + "}", 8);
  EXPECT_THAT(text, HasSubstr("tensor \"w\""));
  EXPECT_THAT(text, HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsLie,
    testing::Values(
        Lie{"NotAnObject", R"(7)", "not an object"},  //
        Lie{"NoDtype", R"({"shape":[2],"data_offsets":[0,8]})", "dtype is missing"},
        Lie{"NoShape", R"({"dtype":"F32","data_offsets":[0,8]})", "shape is missing"},
        Lie{"NoOffsets", R"({"dtype":"F32","shape":[2]})", "data_offsets is missing"},
        Lie{"TwoShapes", R"({"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]})", "twice"},
        Lie{"HalfPrecision", R"({"dtype":"F16","shape":[4],"data_offsets":[0,8]})",
            "\"F16\" is not supported"},
        Lie{"DtypeIsANumber", R"({"dtype":32,"shape":[2],"data_offsets":[0,8]})",
            "dtype 32 is not supported"},
        Lie{"ShapeIsANumber", R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})", "shape 2 is not a list"},
        Lie{"NegativeShape", R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", "not a whole number"},
        Lie{"FractionalShape", R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})", "not a whole number"},
        Lie{"HugeExtent", R"({"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]})",
            "not a whole number"},
        Lie{"OverflowingShape", R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})",
            "more elements"},
        Lie{"OffsetsAreOneNumber", R"({"dtype":"F32","shape":[2],"data_offsets":[8]})", "not [begin, end]"},
        Lie{"OffsetsAreNegative", R"({"dtype":"F32","shape":[2],"data_offsets":[-8,0]})", "not [begin, end]"},
        Lie{"OffsetsAreReversed", R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", "before they begin"},
        Lie{"OffsetsBeyondTheFile", R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})",
            "beyond the 8 bytes"},
        Lie{"TooFewBytes", R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", "span 4 bytes"},
        Lie{"TooManyBytes", R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})", "needs 4"}),
    [](const auto& test) { return test.param.name; });

TEST(Safetensors, RefusesTwoTensorsOfOneName) {
  EXPECT_THAT(complaint_about(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                              R"("w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                              2),
              HasSubstr("\"w\": named twice"));
}

TEST(Safetensors, RefusesOverlappingTensors) {
  EXPECT_THAT(complaint_about(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                              R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                              3),
              HasSubstr("inside another tensor's"));
}

TEST(Safetensors, RefusesGapsAndTrailingBytes) {
  EXPECT_THAT(complaint_about(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                              R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                              3),
              HasSubstr("begins at 2, but the data before it ends at 1"));
  EXPECT_THAT(complaint_about(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 3),
              HasSubstr("2 bytes behind the last tensor"));
}

TEST(Safetensors, NamesATensorOnOneLineWhateverItsName) {
  EXPECT_THAT(complaint_about(R"({"a\nb":7})", 0), HasSubstr(R"("a\nb")"));
}

}  // namespace
}  // namespace tacho
