#include "data/source.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "data/cifar10.h"
#include "tensors/npy.h"

namespace tacho {
namespace {

constexpr std::string_view kKinds =
    "there are cifar10:DIR, npy:x.npy,y.npy and synthetic, and for 3D U-Nets cremi:F.h5";

Tensor read_array(const std::string& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (!error) require_memory_for(static_cast<int64_t>(bytes), 1);
  return read_npy(file);
}

ImageSet read_arrays(const std::string& images_file, const std::string& labels_file) {
  ImageSet set = {read_array(images_file), {}};
  if (set.images.dtype() != DType::f32 || set.images.shape().size() != 4) {
    throw UserError("{}: holds {} of shape {}; images are float32 N,C,H,W", images_file,
                    name_of(set.images.dtype()), to_string(set.images.shape()));
  }
  const Tensor labels = read_array(labels_file);
  if (labels.dtype() != DType::i64 || labels.shape().size() != 1) {
    throw UserError("{}: holds {} of shape {}; labels are int64 N", labels_file, name_of(labels.dtype()),
                    to_string(labels.shape()));
  }
  if (labels.size() != set.count() || set.count() == 0) {
    throw UserError("{}: {} labels for the {} images of {}", labels_file, labels.size(), set.count(),
                    images_file);
  }
  set.labels.assign(labels.values<int64_t>().begin(), labels.values<int64_t>().end());
  if (const int64_t least = std::ranges::min(set.labels); least < 0) {
    throw UserError("{}: label {} is negative", labels_file, least);
  }
  return set;
}

DataSet read_npy_set(std::string_view files) {
  const std::vector<std::string> names = split(files, ',');
  if (names.size() != 2 && names.size() != 4) {
    throw UserError(
        "--data npy:{}: two files are needed, images and labels, or four with those of a test set", files);
  }
  DataSet data = {.name = "npy", .train = read_arrays(names[0], names[1]), .test = {}};
  if (names.size() == 4) {
    data.test = read_arrays(names[2], names[3]);
    if (data.test.channels() != data.train.channels() || data.test.image() != data.train.image()) {
      throw UserError("{}: images of shape {}, but those of {} have {}", names[2],
                      to_string(data.test.images.shape()), names[0], to_string(data.train.images.shape()));
    }
  }
  for (const ImageSet* set : {&data.train, &data.test}) {
    for (const int64_t label : set->labels) data.classes = std::max(data.classes, label + 1);
  }
  return data;
}

ImageSet random_set(const SyntheticShape& shape, std::string_view part) {
  const Random random = Random(shape.seed).stream(part);
  ImageSet set = {Tensor({shape.images, 3, shape.image[0], shape.image[1]}, DType::f32), {}};
  random.stream("images").fill_normal(set.images.values<float>(), 0, 1);
  for (int64_t i = 0; i < shape.images; ++i) {
    set.labels.push_back(
        static_cast<int64_t>(random.bits(static_cast<uint64_t>(i)) % static_cast<uint64_t>(shape.classes)));
  }
  return set;
}

// As many images to train as to test.
DataSet make_synthetic_set(const SyntheticShape& shape) {
  const auto image_bytes = 3 * shape.image[0] * shape.image[1] * static_cast<int64_t>(sizeof(float));
  try {
    require_memory_for(2 * shape.images, image_bytes + static_cast<int64_t>(sizeof(int64_t)));
  } catch (const OutOfMemory& error) {
    throw UserError(
        "--data synthetic: {} training and as many test images of {}: {}; take a smaller --subset or --image",
        shape.images, to_string(shape.image), error.what());
  }
  return {.name = "synthetic",
          .classes = shape.classes,
          .train = random_set(shape, "train"),
          .test = random_set(shape, "test")};
}

DataSet open_kind(std::string_view specification, const SyntheticShape& synthetic) {
  const size_t colon = specification.find(':');
  const std::string_view kind = specification.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : specification.substr(colon + 1);
  if (kind == "synthetic" && rest.empty()) return make_synthetic_set(synthetic);
  if (kind == "cifar10" && !rest.empty()) return read_cifar10(rest);
  if (kind == "npy" && !rest.empty()) return read_npy_set(rest);
  throw UserError("--data '{}': {}", specification, kKinds);
}

}  // namespace

DataSet open_data(std::string_view specification, const SyntheticShape& synthetic) {
  try {
    return open_kind(specification, synthetic);
  } catch (const OutOfMemory& error) {
    throw UserError("--data {}: {}", specification, error.what());
  }
}

}  // namespace tacho
