#include "volume/make_cremi.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "volume/codec.h"
#include "volume/hdf5_type.h"
#include "volume/hdf5_volume.h"
#include "volume/tissue.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr Point kChunk = {16, 128, 128};
constexpr std::array<double, 3> kResolution_nm = {40, 4, 4};
// How many chunks are in memory at once.
constexpr int64_t kChunksAtOnce = 32;

// A file that is being written under another name, which is gone unless keep() gives it its own.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path file)
      : file_(std::move(file)), path_(fmt::format("{}.{}.tmp", file_.string(), getpid())) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }
  std::string final_path() const { return file_.string(); }
  void keep() {
    std::error_code error;
    fs::rename(path_, file_, error);
    if (error) throw UserError("cannot write {}: {}", file_.string(), error.message());
  }

 private:
  fs::path file_;
  std::string path_;
};

std::array<hsize_t, 3> hdf5_extents(const Point& point) {
  return {static_cast<hsize_t>(point[0]), static_cast<hsize_t>(point[1]), static_cast<hsize_t>(point[2])};
}

// The CREMI file of a shape, chunk by chunk.
class CremiFile {
 public:
  CremiFile(const TemporaryFile& file, const Point& shape, const Point& chunk);

  // Of chunks as encode() makes them with Compression::zlib.
  void write_chunk(const Point& begin, std::span<const std::byte> image,
                   std::span<const std::byte> neuron_ids);
  void close();

 private:
  Hdf5Handle make_dataset(const char* path, VoxelType type, const Point& shape, const Point& chunk);
  void write(const Hdf5Handle& dataset, const Point& begin, std::span<const std::byte> chunk);
  void check(bool done) const {
    if (!done) throw UserError("cannot write {}: {}", name_, hdf5_reason());
  }

  std::string name_;
  Hdf5Handle file_, image_, neuron_ids_;
};

CremiFile::CremiFile(const TemporaryFile& file, const Point& shape, const Point& chunk)
    : name_(file.final_path()),
      file_(H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose) {
  check(file_.is_open());
  image_ = make_dataset(kCremiRaw, VoxelType::u8, shape, chunk);
  neuron_ids_ = make_dataset(kCremiNeuronIds, VoxelType::u64, shape, chunk);
}

Hdf5Handle CremiFile::make_dataset(const char* path, VoxelType type, const Point& shape, const Point& chunk) {
  const auto extents = hdf5_extents(shape), chunk_extents = hdf5_extents(chunk);
  const Hdf5Handle space(H5Screate_simple(3, extents.data(), nullptr), H5Sclose);
  const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
      creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id(), 1);
  H5Pset_chunk(creation.id(), 3, chunk_extents.data());
  H5Pset_deflate(creation.id(), 1);
  Hdf5Handle dataset(
      H5Dcreate2(file_.id(), path, native_type(type), space.id(), links.id(), creation.id(), H5P_DEFAULT),
      H5Dclose);
  check(dataset.is_open());

  constexpr hsize_t three = 3;
  const Hdf5Handle numbers(H5Screate_simple(1, &three, nullptr), H5Sclose);
  const Hdf5Handle attribute(
      H5Acreate2(dataset.id(), "resolution", H5T_NATIVE_DOUBLE, numbers.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  check(attribute.is_open() && H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, kResolution_nm.data()) >= 0);
  return dataset;
}

void CremiFile::write(const Hdf5Handle& dataset, const Point& begin, std::span<const std::byte> chunk) {
  const auto offset = hdf5_extents(begin);
  check(H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, offset.data(), chunk.size(), chunk.data()) >= 0);
}

void CremiFile::write_chunk(const Point& begin, std::span<const std::byte> image,
                            std::span<const std::byte> neuron_ids) {
  write(image_, begin, image);
  write(neuron_ids_, begin, neuron_ids);
}

void CremiFile::close() {
  check(image_.close() && neuron_ids_.close());
  check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL) >= 0);
  check(file_.close());
}

// How a volume is cut into chunks; those at its end reach beyond it, as HDF5 stores them.
struct ChunkGrid {
  Point shape, chunk;

  int64_t along(int axis) const { return (shape[axis] - 1) / chunk[axis] + 1; }
  int64_t count() const { return along(0) * along(1) * along(2); }
  Box box(int64_t number) const {
    const Point index = {number / along(2) / along(1), number / along(2) % along(1), number % along(2)};
    Box box;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      box.begin[axis] = index[axis] * chunk[axis];
      box.end[axis] = box.begin[axis] + chunk[axis];
    }
    return box;
  }
};

struct EncodedChunk {
  std::vector<std::byte> image, neuron_ids;
};

EncodedChunk make_chunk(const Tissue& tissue, const Box& box) {
  std::vector<uint8_t> image(static_cast<size_t>(voxels(box)));
  std::vector<uint64_t> neuron_ids(image.size());
  tissue.fill(box, image, neuron_ids);
  return {encode(Compression::zlib, std::as_bytes(std::span(image)), 1),
          encode(Compression::zlib, std::as_bytes(std::span(neuron_ids)), sizeof(uint64_t))};
}

bool write_tissue(CremiFile& file, const Tissue& tissue, const ChunkGrid& grid,
                  const MakeProgress& progress) {
  const int64_t count = grid.count();
  std::vector<EncodedChunk> chunks(kChunksAtOnce);
  for (int64_t first = 0; first < count; first += kChunksAtOnce) {
    if (!progress(static_cast<double>(first) / static_cast<double>(count))) return false;
    const int64_t some = std::min(kChunksAtOnce, count - first);
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < some; ++i) chunks[i] = make_chunk(tissue, grid.box(first + i));
    for (int64_t i = 0; i < some; ++i) {
      file.write_chunk(grid.box(first + i).begin, chunks[i].image, chunks[i].neuron_ids);
    }
  }
  return true;
}

}  // namespace

bool make_cremi(const fs::path& path, const Point& shape, uint64_t seed, const MakeProgress& progress) {
  const QuietHdf5 quiet;
  Point chunk = kChunk;
  for (size_t axis = 0; axis < chunk.size(); ++axis) chunk[axis] = std::min(chunk[axis], shape[axis]);
  TemporaryFile temporary(path);
  CremiFile file(temporary, shape, chunk);
  if (!write_tissue(file, Tissue(shape, seed), {shape, chunk}, progress)) return false;
  file.close();
  temporary.keep();
  return true;
}

}  // namespace tacho
