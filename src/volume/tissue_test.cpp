#include "volume/tissue.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace tacho {
namespace {

constexpr Point kTissueShape = {12, 96, 120};

struct Made {
  std::vector<uint8_t> image;
  std::vector<uint64_t> neuron_ids;
  bool operator==(const Made&) const = default;
};

Made make(const Box& box, uint64_t seed = 0) {
  Made made;
  made.image.resize(static_cast<size_t>(voxels(box)));
  made.neuron_ids.resize(made.image.size());
  Tissue(kTissueShape, seed).fill(box, made.image, made.neuron_ids);
  return made;
}

TEST(Tissue, IsTheSameInWhateverPartsItIsMade) {
  const Made all = make(whole(kTissueShape));
  for (const Box& part :
       {Box{{3, 10, 20}, {5, 50, 90}}, Box{{11, 95, 0}, {12, 96, 120}}, Box{{7, 64, 33}, {8, 65, 34}}}) {
    const Made made = make(part);
    size_t i = 0;
    for (int64_t z = part.begin[0]; z < part.end[0]; ++z) {
      for (int64_t y = part.begin[1]; y < part.end[1]; ++y) {
        for (int64_t x = part.begin[2]; x < part.end[2]; ++x, ++i) {
          const auto at = static_cast<size_t>((z * kTissueShape[1] + y) * kTissueShape[2] + x);
          ASSERT_EQ(made.image[i], all.image[at]) << z << " " << y << " " << x;
          ASSERT_EQ(made.neuron_ids[i], all.neuron_ids[at]);
        }
      }
    }
  }
}

TEST(Tissue, ASeedMakesItsOwn) {
  EXPECT_EQ(make(whole({2, 64, 64}), 1), make(whole({2, 64, 64}), 1));
  EXPECT_NE(make(whole({2, 64, 64}), 1).image, make(whole({2, 64, 64}), 2).image);
}

TEST(Tissue, NeuronsAreOfSeveralSizesAndNoneIsZero) {
  std::map<uint64_t, int64_t> sizes;
  for (const uint64_t id : make(whole(kTissueShape)).neuron_ids) ++sizes[id];
  EXPECT_EQ(sizes.count(0), 0U);
  EXPECT_GT(sizes.size(), 4U);
  EXPECT_LT(sizes.size(), 60U);
}

TEST(Tissue, MembranesAreDark) {
  const Made made = make(whole(kTissueShape));
  double at_border = 0, elsewhere = 0;
  int64_t border_voxels = 0, other_voxels = 0;
  for (size_t i = 1; i < made.image.size(); ++i) {
    const bool border = made.neuron_ids[i] != made.neuron_ids[i - 1];
    (border ? at_border : elsewhere) += made.image[i];
    ++(border ? border_voxels : other_voxels);
  }
  EXPECT_LT(at_border / static_cast<double>(border_voxels) + 50,
            elsewhere / static_cast<double>(other_voxels));
}

}  // namespace
}  // namespace tacho
