#include "distributed/scattered_pass.h"

#include <numeric>

#include "base/clock.h"
#include "distributed/collectives.h"

namespace tacho {
namespace {

size_t bytes_per_image(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return static_cast<size_t>(elements(value.shape) / value.shape[0]) * size_of(value.dtype);
}

}  // namespace

std::vector<int64_t> share_out(int64_t total, int devices) {
  std::vector<int64_t> images(static_cast<size_t>(devices), total / devices);
  for (int64_t rank = 0; rank < total % devices; ++rank) ++images[static_cast<size_t>(rank)];
  return images;
}

ScatteredBatch::ScatteredBatch(Communicator& ranks, const Graph& graph, Tensor whole,
                               std::vector<int64_t> images)
    : ranks_(ranks),
      input_id_(graph.inputs[0]),
      output_id_(graph.outputs[0]),
      images_(std::move(images)),
      whole_(std::move(whole)),
      part_(graph.shape(input_id_), graph.value(input_id_).dtype),
      input_bytes_(bytes_of(bytes_per_image(graph, input_id_))),
      output_bytes_(bytes_of(bytes_per_image(graph, output_id_))) {
  const auto others = [](const std::vector<size_t>& bytes) {
    return static_cast<int64_t>(std::accumulate(bytes.begin() + 1, bytes.end(), size_t{0}));
  };
  if (ranks.rank() > 0) {
    bytes_sent_ = static_cast<int64_t>(output_bytes_[static_cast<size_t>(ranks.rank())]);
    return;
  }
  bytes_sent_ = others(input_bytes_);
  Shape shape = graph.shape(output_id_);
  shape[0] = std::accumulate(images_.begin(), images_.end(), int64_t{0});
  output_ = Tensor(shape, graph.value(output_id_).dtype);
}

std::vector<size_t> ScatteredBatch::bytes_of(size_t bytes_per_image) const {
  std::vector<size_t> bytes;
  for (const int64_t count : images_) bytes.push_back(static_cast<size_t>(count) * bytes_per_image);
  return bytes;
}

PassTimes ScatteredBatch::run_pass(Plan& plan) {
  PassTimes times;
  times.begin_ms = now_ms();
  scatter(ranks_, {whole_.raw(), whole_.bytes()}, input_bytes_, {part_.raw(), part_.bytes()});
  plan.write(input_id_, part_);
  times.scatter_end_ms = now_ms();
  plan.forward();
  times.forward_end_ms = times.backward_end_ms = times.exchange_end_ms = times.update_end_ms = now_ms();
  const Tensor own = plan.read(output_id_);
  gather(ranks_, {own.raw(), own.bytes()}, output_bytes_, {output_.raw(), output_.bytes()});
  times.end_ms = now_ms();
  times.exchange.bytes = bytes_sent_;
  return times;
}

}  // namespace tacho
