#include "predict/chunks.h"

#include "predict/tiling.h"
#include "volume/copy_box.h"
#include "volume/voxel_values.h"

namespace tacho {
namespace {

// The output's chunks that a block covers, by their place in the grid of chunks.
std::vector<Point> chunks_of(const ZarrOutput& output, const Box& block) {
  const Point& chunk = output.description().chunk;
  const Tiling covered = {block.size(), chunk};
  std::vector<Point> list;
  for (int64_t number = 0; number < covered.count(); ++number) {
    Point index = covered.index(number);
    for (size_t axis = 0; axis < index.size(); ++axis) index[axis] += block.begin[axis] / chunk[axis];
    list.push_back(index);
  }
  return list;
}

// The chunk's part of the block's result, channels x box.
std::vector<float> cut_out(const Box& chunk, const Box& block, int64_t channels,
                           std::span<const float> result) {
  std::vector<float> part(static_cast<size_t>(channels * voxels(chunk)));
  const auto of_block = static_cast<size_t>(voxels(block)), of_chunk = static_cast<size_t>(voxels(chunk));
  for (size_t channel = 0; channel < static_cast<size_t>(channels); ++channel) {
    copy_box(chunk, std::as_bytes(result.subspan(channel * of_block, of_block)), block,
             std::as_writable_bytes(std::span(part).subspan(channel * of_chunk, of_chunk)), chunk,
             sizeof(float));
  }
  return part;
}

// Order matters to it.
void add(const ZarrOutput::Written& chunk, DoneBlock& block) {
  constexpr uint32_t kPrime = 16'777'619;
  block.bytes += chunk.bytes;
  block.checksum = (block.checksum * kPrime) ^ chunk.crc;
}

ZarrOutput::Written write_chunk(const ZarrOutput& output, const Point& index, std::span<const float> values) {
  std::vector<std::byte> stored(values.size() * size_of(output.description().type));
  from_floats(values, output.description().type, stored);
  return output.write_chunk(index, stored);
}

}  // namespace

DoneBlock write_block(const ZarrOutput& output, const Box& box, std::span<const float> result) {
  DoneBlock done;
  for (const Point& index : chunks_of(output, box)) {
    const bool is_whole = output.box_of(index) == box;
    const auto part = is_whole ? std::vector<float>()
                               : cut_out(output.box_of(index), box, output.description().channels, result);
    add(write_chunk(output, index, is_whole ? result : std::span<const float>(part)), done);
  }
  return done;
}

bool is_intact(const ZarrOutput& output, const Box& box, const DoneBlock& done) {
  DoneBlock found;
  for (const Point& index : chunks_of(output, box)) {
    const auto stored = output.stored(index);
    if (!stored) return false;
    add(*stored, found);
  }
  return found == done;
}

}  // namespace tacho
