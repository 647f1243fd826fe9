#include <gmock/gmock.h>

#include "tensors/safetensors.h"
#include "tensors/test_files.h"

namespace tacho {
namespace {

std::string sound_file(const TestFile& file) {
  Weights weights;
  weights["conv.weight"] = Tensor({2, 3}, DType::f32);
  weights["bn.num_batches_tracked"] = Tensor({}, DType::i64);
  write_safetensors(file.path(), weights);
  return file.content();
}

TEST(DamagedSafetensors, AreRefusedWhereverTheFileIsCut) {
  const TestFile file;
  const std::string content = sound_file(file);
  for (size_t length = 0; length < content.size(); ++length) {
    file.write(content.substr(0, length));
    EXPECT_THROW(read_safetensors(file.path()), UserError) << "cut to " << length << " bytes";
  }
}

TEST(DamagedSafetensors, NeverCrashTheReaderWhicheverBitIsFlipped) {
  const TestFile file;
  const std::string content = sound_file(file);
  for (size_t position = 0; position < content.size(); ++position) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = content;
      damaged[position] = static_cast<char>(damaged[position] ^ (1 << bit));
      file.write(damaged);
      survives([&] { read_safetensors(file.path()); });
    }
  }
}

TEST(DamagedSafetensors, NeverCrashTheReaderWhicheverByteBecomesADigitOrABracket) {
  const TestFile file;
  const std::string content = sound_file(file);
  for (size_t position = 8; position < content.size(); ++position) {
    for (const char replacement : std::string_view("9-[]{},:\"\\ \0\xff", 13)) {
      std::string damaged = content;
      damaged[position] = replacement;
      file.write(damaged);
      survives([&] { read_safetensors(file.path()); });
    }
  }
}

TEST(DamagedSafetensors, SurviveADeeplyNestedHeader) {
  const std::string header = std::string(1'000'000, '[');
  const TestFile file(bytes_of<uint64_t>(header.size()) + header);
  EXPECT_THROW(read_safetensors(file.path()), UserError);
  const std::string closed = "{\"w\":" + header + std::string(header.size(), ']') + "}";
  file.write(bytes_of<uint64_t>(closed.size()) + closed);
  EXPECT_THROW(read_safetensors(file.path()), UserError);
}

}  // namespace
}  // namespace tacho
