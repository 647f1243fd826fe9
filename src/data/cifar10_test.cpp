#include "data/cifar10.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/test_folder.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class Cifar10 : public testing::Test {
 protected:
  Cifar10() { make_cifar10(folder_, 30, 1); }

  void change(std::string_view file, const std::function<void(std::string&)>& edit) {
    std::string content = read_file(folder_ / file);
    edit(content);
    write_file_atomically(folder_ / file, content);
  }
  void expect_refusal(const std::string& words) {
    EXPECT_THAT([&] { read_cifar10(folder_); }, ThrowsMessage<UserError>(HasSubstr(words)));
  }

  TestFolder own_;
  const std::filesystem::path& folder_ = own_.path();
};

TEST_F(Cifar10, IsReadAsItWasWritten) {
  const DataSet data = read_cifar10(folder_);
  EXPECT_EQ(data.train.count(), 150);
  EXPECT_EQ(data.test.count(), 30);
  EXPECT_EQ(data.train.images.shape(), (Shape{150, 3, 32, 32}));
  const std::string content = read_file(folder_ / "data_batch_2.bin");
  EXPECT_EQ(data.train.labels[30], content[0]);
  EXPECT_EQ(data.train.images.values<uint8_t>()[30 * kCifarPixels + 5], static_cast<uint8_t>(content[6]));
  EXPECT_EQ((std::set<int64_t>(data.train.labels.begin(), data.train.labels.end())).size(), 10u);
}

TEST_F(Cifar10, IsMadeAlikeFromTheSameSeed) {
  const std::string before = read_file(folder_ / "test_batch.bin");
  make_cifar10(folder_, 30, 1);
  EXPECT_EQ(read_file(folder_ / "test_batch.bin"), before);
  make_cifar10(folder_, 30, 2);
  EXPECT_NE(read_file(folder_ / "test_batch.bin"), before);
}

TEST_F(Cifar10, RefusesAMissingFile) {
  std::filesystem::remove(folder_ / "data_batch_4.bin");
  expect_refusal("data_batch_4.bin: there is no such file");
}

TEST_F(Cifar10, RefusesATruncatedFile) {
  change("data_batch_3.bin", [](std::string& content) { content.resize(content.size() - 7); });
  expect_refusal("no whole number of records");
}

TEST_F(Cifar10, RefusesAFileWithOtherRecords) {
  change("data_batch_3.bin",
         [](std::string& content) { content.resize(content.size() - kCifarRecordBytes); });
  expect_refusal("29 records, but");
}

TEST_F(Cifar10, RefusesALabelAboveNine) {
  change("test_batch.bin", [](std::string& content) { content[2 * kCifarRecordBytes] = 10; });
  expect_refusal("test_batch.bin: record 2 has label 10");
}

TEST_F(Cifar10, RefusesAFolderThatIsNone) {
  EXPECT_THAT([&] { read_cifar10(folder_ / "none"); }, ThrowsMessage<UserError>(HasSubstr("no directory")));
}

}  // namespace
}  // namespace tacho
