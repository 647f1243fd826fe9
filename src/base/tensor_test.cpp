#include "base/tensor.h"

#include <gtest/gtest.h>

#include <vector>

namespace tacho {
namespace {

TEST(Tensor, StartsAsZeros) {
  const Tensor tensor({2, 3}, DType::i64);
  EXPECT_EQ(tensor.size(), 6);
  EXPECT_EQ(tensor.bytes(), 48u);
  for (const int64_t value : tensor.values<int64_t>()) EXPECT_EQ(value, 0);
}

TEST(Tensor, HoldsTheValuesItWasMadeFrom) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const auto tensor = Tensor::from<float>({2, 3}, values);
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_TRUE(std::ranges::equal(tensor.values<float>(), values));
}

TEST(Tensor, SharesNothingWithItsClone) {
  auto tensor = Tensor::from<uint8_t>({2}, std::vector<uint8_t>{1, 2});
  const Tensor copy = tensor.clone();
  tensor.values<uint8_t>()[0] = 9;
  EXPECT_EQ(copy.values<uint8_t>()[0], 1);
  EXPECT_EQ(copy.shape(), tensor.shape());
  EXPECT_EQ(copy.dtype(), DType::u8);
}

TEST(Tensor, MayBeAScalarOrEmpty) {
  EXPECT_EQ(Tensor({}, DType::f64).bytes(), 8u);
  const Tensor empty({3, 0}, DType::f32);
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(empty.clone().shape(), (Shape{3, 0}));
}

TEST(DType, HasTheSizeAndNumpysNameOfItsType) {
  EXPECT_EQ(size_of(dtype_of<float>()), sizeof(float));
  EXPECT_EQ(size_of(dtype_of<double>()), sizeof(double));
  EXPECT_EQ(size_of(dtype_of<int32_t>()), sizeof(int32_t));
  EXPECT_EQ(size_of(dtype_of<int64_t>()), sizeof(int64_t));
  EXPECT_EQ(size_of(dtype_of<uint8_t>()), sizeof(uint8_t));
  EXPECT_EQ(name_of(DType::f32), "float32");
  EXPECT_EQ(name_of(DType::i64), "int64");
}

}  // namespace
}  // namespace tacho
