#include "volume/hdf5_volume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/error.h"
#include "volume/hdf5_type.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// What HDF5 keeps decoded: the chunks that a box and the next one along x share, or more where that is
// little.
constexpr size_t kLeastCacheBytes = size_t{64} << 20, kMostCacheBytes = size_t{512} << 20;

// A place or an extent in a dataset of so many axes.
std::vector<hsize_t> with_axes_in_front(const Point& point, size_t rank, hsize_t in_front) {
  std::vector<hsize_t> numbers(rank, in_front);
  std::ranges::copy(hdf5_extents(point), numbers.end() - std::ssize(point));
  return numbers;
}

class Hdf5Volume : public Volume {
 public:
  Hdf5Volume(Hdf5Handle file, Hdf5Handle dataset, VolumeInfo info)
      : file_(std::move(file)), dataset_(std::move(dataset)), info_(std::move(info)) {}

  const VolumeInfo& info() const override { return info_; }
  void read(const Box& box, std::span<std::byte> voxels) override;

 private:
  Hdf5Handle file_, dataset_;
  VolumeInfo info_;
};

void Hdf5Volume::read(const Box& box, std::span<std::byte> voxels) {
  assert(intersection(box, whole(info_.shape)) == box);
  assert(voxels.size() == static_cast<size_t>(tacho::voxels(box)) * size_of(info_.type));
  if (tacho::voxels(box) == 0) return;
  const QuietHdf5 quiet;
  const Hdf5Handle all(H5Dget_space(dataset_.id()), H5Sclose);
  const size_t rank = extents_of(all).size();
  const auto begin = with_axes_in_front(box.begin, rank, 0), size = with_axes_in_front(box.size(), rank, 1);
  const Hdf5Handle part(H5Screate_simple(static_cast<int>(rank), size.data(), nullptr), H5Sclose);
  const bool done =
      H5Sselect_hyperslab(all.id(), H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr) >= 0 &&
      H5Dread(dataset_.id(), native_type(info_.type), part.id(), all.id(), H5P_DEFAULT, voxels.data()) >= 0;
  if (!done) {
    throw UserError("{}: cannot read the {} voxels at {},{},{}: {}", info_.name, to_string(box.size()),
                    box.begin[0], box.begin[1], box.begin[2], hdf5_reason());
  }
}

struct Listing {
  std::string text;
  size_t count = 0;
};

std::string describe_dataset(const Hdf5Handle& dataset) {
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose), type(H5Dget_type(dataset.id()), H5Tclose);
  return fmt::format("{} {}", fmt::join(extents_of(space), "x"), describe_type(type));
}

herr_t list_dataset(hid_t file, const char* name, const H5O_info_t* info, void* data) {
  auto& listing = *static_cast<Listing*>(data);
  if (info->type != H5O_TYPE_DATASET || ++listing.count > kMostListed) return 0;
  const Hdf5Handle dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
  listing.text +=
      fmt::format("{} /{} ({})", listing.text.empty() ? "" : ",", name, describe_dataset(dataset));
  return 0;
}

std::string list_datasets(const Hdf5Handle& file) {
  Listing listing;
  H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_INC, list_dataset, &listing, H5O_INFO_BASIC);
  if (listing.count > kMostListed) listing.text += fmt::format(" and {} more", listing.count - kMostListed);
  return listing.text.empty() ? " none" : listing.text;
}

// Without locks, which not every file system has: nobody writes to a volume that is read.
Hdf5Handle open_file(const fs::path& path) {
  const std::string name = path.string();
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.id(), false, true);
  Hdf5Handle file(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (file.is_open()) return file;
  const std::string reason = hdf5_reason();
  const bool has_signature = H5Fis_hdf5(name.c_str()) > 0;
  const bool readable = reason.find("Permission denied") == std::string::npos;
  if (readable && !has_signature) throw UserError("{}: is no HDF5 file", name);
  throw UserError("{}: cannot be opened: {}", name, reason);
}

void refuse_what_is_no_dataset(const Hdf5Handle& file, const std::string& path, const std::string& name) {
  const Hdf5Handle object(H5Oopen(file.id(), path.c_str(), H5P_DEFAULT), H5Oclose);
  const H5I_type_t kind = object.is_open() ? H5Iget_type(object.id()) : H5I_BADID;
  if (kind == H5I_DATASET) return;
  const char* what = kind == H5I_BADID   ? "there is no such dataset"
                     : kind == H5I_GROUP ? "is a group"
                                         : "is no dataset";
  throw UserError("{}: {}; the file's datasets:{}", name, what, list_datasets(file));
}

// z, y and x.
Point last_axes(std::span<const hsize_t> extents) {
  Point point;
  std::ranges::transform(extents.last(point.size()), point.begin(),
                         [](hsize_t extent) { return static_cast<int64_t>(extent); });
  return point;
}

std::optional<Point> chunk_of(const Hdf5Handle& dataset) {
  const Hdf5Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return {};
  std::array<hsize_t, H5S_MAX_RANK> chunk = {};
  const int rank = H5Pget_chunk(creation.id(), H5S_MAX_RANK, chunk.data());
  if (rank < 3) return {};
  return last_axes({chunk.data(), static_cast<size_t>(rank)});
}

// CREMI's attributes have a number for each of z, y and x; nothing where this one is no such.
std::vector<double> attribute_of(const Hdf5Handle& dataset, const char* name) {
  if (H5Aexists(dataset.id(), name) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(dataset.id(), name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  std::vector<double> numbers(3);
  if (H5Sget_simple_extent_npoints(space.id()) != 3) return {};
  if (H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, numbers.data()) < 0) return {};
  return numbers;
}

// `offset` and `resolution` are in nanometres.
std::optional<std::array<double, 3>> offset_of(const Hdf5Handle& dataset,
                                               const std::optional<VoxelSize>& voxel) {
  const std::vector<double> numbers = attribute_of(dataset, "offset");
  if (numbers.empty() || !voxel) return {};
  return std::array{numbers[0] / voxel->size[0], numbers[1] / voxel->size[1], numbers[2] / voxel->size[2]};
}

Point shape_of(const Hdf5Handle& dataset, const std::string& name) {
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const std::vector<hsize_t> extents = extents_of(space);
  const bool has_axes =
      extents.size() >= 3 &&
      std::ranges::all_of(extents.begin(), extents.end() - 3, [](hsize_t extent) { return extent == 1; });
  if (!has_axes) {
    throw UserError("{}: has {} axes ({}); a volume has three: z,y,x, and others in front only of extent 1",
                    name, extents.size(), describe_dataset(dataset));
  }
  // In bytes of the largest type.
  constexpr hsize_t most = std::numeric_limits<int64_t>::max() / 8;
  hsize_t count = 1;
  for (const hsize_t extent : extents) {
    if (extent == 0) throw UserError("{}: is empty ({})", name, describe_dataset(dataset));
    if (extent > most / count)
      throw UserError("{}: holds more than can be counted ({})", name, describe_dataset(dataset));
    count *= extent;
  }
  return last_axes(extents);
}

VolumeInfo info_of(const Hdf5Handle& dataset, std::string name) {
  const Hdf5Handle stored(H5Dget_type(dataset.id()), H5Tclose);
  const std::optional<VoxelType> type = voxel_type_of(stored);
  const Point shape = shape_of(dataset, name);
  if (!type) throw UserError("{}: is {}; tacho reads {}", name, describe_type(stored), list_of_voxel_types());
  const auto voxel_size = checked_voxel_size(attribute_of(dataset, "resolution"), "nanometer");
  return {.shape = shape,
          .type = *type,
          .chunk = chunk_of(dataset),
          .voxel_size = voxel_size,
          .offset = offset_of(dataset, voxel_size),
          .name = std::move(name)};
}

// Two rows of chunks along x.
size_t cache_bytes(const VolumeInfo& info) {
  const auto chunks = static_cast<size_t>(2 * ((info.shape[2] - 1) / (*info.chunk)[2] + 1));
  const size_t bytes = static_cast<size_t>(voxels(*info.chunk)) * size_of(info.type);
  return std::clamp(chunks * bytes, kLeastCacheBytes, kMostCacheBytes);
}

// The same dataset with a cache that suits its chunks.
Hdf5Handle with_cache(const Hdf5Handle& file, const std::string& path, const VolumeInfo& info) {
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  if (info.chunk) {
    const size_t bytes = cache_bytes(info);
    const size_t chunks = bytes / (static_cast<size_t>(voxels(*info.chunk)) * size_of(info.type)) + 1;
    // HDF5's advice: a hundred places for each chunk that fits, and a number without small factors.
    const size_t places = std::min<size_t>(100 * chunks, 1'000'000) + 1;
    H5Pset_chunk_cache(access.id(), places, bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
  }
  return {H5Dopen2(file.id(), path.c_str(), access.id()), H5Dclose};
}

}  // namespace

std::unique_ptr<Volume> open_hdf5(const fs::path& path, const std::string& dataset) {
  const QuietHdf5 quiet;
  Hdf5Handle file = open_file(path);
  const std::string inside = dataset.starts_with('/') ? dataset : "/" + dataset;
  const std::string name = fmt::format("{}:{}", path.string(), inside);
  refuse_what_is_no_dataset(file, inside, name);
  VolumeInfo info;
  {
    const Hdf5Handle seen(H5Dopen2(file.id(), inside.c_str(), H5P_DEFAULT), H5Dclose);
    if (!seen.is_open()) throw UserError("{}: cannot be opened: {}", name, hdf5_reason());
    info = info_of(seen, name);
  }
  Hdf5Handle opened = with_cache(file, inside, info);
  if (!opened.is_open()) throw UserError("{}: cannot be opened: {}", name, hdf5_reason());
  return std::make_unique<Hdf5Volume>(std::move(file), std::move(opened), std::move(info));
}

}  // namespace tacho
