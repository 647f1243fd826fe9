// Reads and writes volumes as tacho does, for tests/volume_files_test.py:
//   volume_copy show SPECIFICATION                            what it is, as JSON
//   volume_copy dump SPECIFICATION FILE z,y,x z,y,x           the voxels from the first to before the second
//   place volume_copy copy SPECIFICATION DIR.zarr COMPRESSION z,y,x with chunks of this size
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/json_values.h"
#include "base/text.h"
#include "volume/zarr_output.h"

namespace tacho {
namespace {

Point parse_point(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  return {parse_integer(parts.at(0)).value(), parse_integer(parts.at(1)).value(),
          parse_integer(parts.at(2)).value()};
}

std::vector<std::byte> read_box(Volume& volume, const Box& box) {
  std::vector<std::byte> voxels(static_cast<size_t>(tacho::voxels(box)) * size_of(volume.info().type));
  volume.read(box, voxels);
  return voxels;
}

void show(const VolumeInfo& info) {
  Json json = {{"name", info.name}, {"shape", info.shape}, {"type", name_of(info.type)}};
  if (info.chunk) json["chunk"] = *info.chunk;
  if (info.voxel_size) json["voxel_size"] = info.voxel_size->size;
  if (info.voxel_size) json["unit"] = info.voxel_size->unit;
  fmt::print("{}\n", to_text(json));
}

void dump(Volume& volume, const std::string& file, const Box& box) {
  const std::vector<std::byte> voxels = read_box(volume, box);
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(voxels.data()), static_cast<std::streamsize>(voxels.size()));
}

void copy(Volume& volume, const std::string& folder, const std::string& compression, const Point& chunk) {
  const VolumeInfo& info = volume.info();
  const ZarrOutput output = ZarrOutput::create(folder, {.shape = info.shape,
                                                        .chunk = chunk,
                                                        .type = info.type,
                                                        .compression = parse_compression(compression),
                                                        .voxel_size = info.voxel_size,
                                                        .name = "copy"});
  const Point count = output.chunks();
  for (int64_t z = 0; z < count[0]; ++z) {
    for (int64_t y = 0; y < count[1]; ++y) {
      for (int64_t x = 0; x < count[2]; ++x) {
        const Point index = {z, y, x};
        output.write_chunk(index, read_box(volume, output.box_of(index)));
      }
    }
  }
}

void run(const std::vector<std::string>& words) {
  const std::unique_ptr<Volume> volume = open_volume(words.at(1));
  if (words[0] == "show") return show(volume->info());
  if (words[0] == "dump")
    return dump(*volume, words.at(2), {parse_point(words.at(3)), parse_point(words.at(4))});
  copy(*volume, words.at(2), words.at(3), parse_point(words.at(4)));
}

}  // namespace
}  // namespace tacho

int main(int count, char** words) {
  try {
    tacho::run({words + 1, words + count});
    return 0;
  } catch (const tacho::UserError& error) {
    fmt::print(stderr, "tacho: {}\n", error.what());
    return 2;
  }
}
