#include "data/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/test_folder.h"
#include "tensors/npy.h"

namespace tacho {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Arrays : public testing::Test {
 protected:
  std::string file(const char* name, const Tensor& tensor) {
    write_npy(folder_.path() / name, tensor);
    return (folder_.path() / name).string();
  }
  std::string labels(const std::vector<int64_t>& values) {
    return file("y.npy", Tensor::from<int64_t>({static_cast<int64_t>(values.size())}, values));
  }
  std::string images(Shape shape = {3, 1, 2, 2}) {
    return file("x.npy", Tensor(std::move(shape), DType::f32));
  }

  void expect_refusal(const std::string& specification, const std::string& words) {
    EXPECT_THAT([&] { open_data(specification, {}); }, ThrowsMessage<UserError>(HasSubstr(words)));
  }

  TestFolder folder_;
};

TEST_F(Arrays, AreTakenAsTheyAre) {
  const DataSet data = open_data("npy:" + images() + "," + labels({2, 0, 1}), {});
  EXPECT_EQ(data.train.count(), 3);
  EXPECT_EQ(data.train.labels, (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(data.classes, 3);
  EXPECT_EQ(data.test.count(), 0);
  EXPECT_EQ(data.default_augmentation, "none");
}

TEST_F(Arrays, OfTheWrongKindAreRefused) {
  const std::string x = images(), y = labels({0, 1, 2});
  expect_refusal("npy:" + x, "two files are needed");
  expect_refusal("npy:" + y + "," + y, "images are float32 N,C,H,W");
  expect_refusal("npy:" + x + "," + x, "labels are int64 N");
  expect_refusal("npy:" + images({2, 1, 2, 2}) + "," + y, "3 labels for the 2 images");
  expect_refusal("npy:" + images() + "," + labels({0, -1, 2}), "label -1 is negative");
}

TEST_F(Arrays, ThatDoNotFitAreRefused) {
  const std::string x = images();
  std::filesystem::resize_file(x, uintmax_t{1} << 43);  // takes no room on the disk
  expect_refusal("npy:" + x + "," + labels({0, 1, 2}), "are available");
}

TEST(Source, NamesWhatThereIs) {
  for (const char* wrong : {"imagenet:/data", "cifar10", "cifar10:", "synthetic:3", ""}) {
    EXPECT_THAT([&] { open_data(wrong, {}); }, ThrowsMessage<UserError>(HasSubstr("there are cifar10:DIR")));
  }
}

TEST(Source, RefusesMoreThanFits) {
  for (const Extents& image : {Extents{32, 32}, Extents{65536, 65536}}) {
    EXPECT_THAT([&] { open_data("synthetic", {.images = 1'000'000'000, .image = image}); },
                ThrowsMessage<UserError>(AllOf(HasSubstr("--data synthetic"), HasSubstr("1000000000"),
                                               HasSubstr("are available"), HasSubstr("--subset"))));
  }
}

TEST(Source, SyntheticImagesAreTheSameForTheSameSeed) {
  const DataSet a = open_data("synthetic", {.images = 4, .seed = 1}),
                b = open_data("synthetic", {.images = 4, .seed = 1});
  EXPECT_EQ(a.train.labels, b.train.labels);
  EXPECT_EQ(a.train.images.values<float>()[100], b.train.images.values<float>()[100]);
  EXPECT_EQ(a.train.images.shape(), (Shape{4, 3, 32, 32}));
}

}  // namespace
}  // namespace tacho
