#include "predict/pipeline.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/buffer.h"
#include "base/cpu.h"
#include "predict/block_slices.h"
#include "predict/bounded_queue.h"
#include "predict/chunks.h"
#include "volume/pad.h"

namespace tacho {
namespace {

constexpr size_t kBlocksAhead = 2;  // that wait before each step

// A block on its way: what the file holds, what the network takes, what it gives.
struct Stored {
  int64_t number = 0;
  Box box = {};
  Buffer voxels = {};
};
struct Floats {
  int64_t number = 0;
  Buffer values = {};

  std::span<float> span() {
    return {reinterpret_cast<float*>(values.data()), values.bytes() / sizeof(float)};
  }
};

Floats make_floats(int64_t number, int64_t count) {
  return {number, Buffer(static_cast<size_t>(count) * sizeof(float))};
}

class Pipeline {
 public:
  Pipeline(const PipelineParts& parts, const PipelineHooks& hooks)
      : parts_(parts), hooks_(hooks), stored_(kBlocksAhead), inputs_(kBlocksAhead), results_(kBlocksAhead) {}

  PipelineFigures run() {
    const double begin = now_ms();
    std::vector<std::jthread> threads;
    guarded([&] {
      for (const auto step : {&Pipeline::read, &Pipeline::prepare, &Pipeline::write})
        threads.emplace_back([this, step] { beside_the_network(step); });
      compute();
    });
    threads.clear();
    if (failure_) std::rethrow_exception(failure_);
    figures_.seconds = (now_ms() - begin) / 1e3;
    figures_.flop = parts_.network.flop_done();
    figures_.input_wait_ms = inputs_.pop_wait_ms();
    figures_.output_wait_ms = results_.push_wait_ms();
    figures_.reader_wait_ms = stored_.push_wait_ms();
    figures_.writer_wait_ms = results_.pop_wait_ms();
    return figures_;
  }

 private:
  // What goes wrong in one step ends all of them.
  void guarded(const std::function<void()>& step) {
    try {
      step();
    } catch (...) {
      {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      stored_.abandon();
      inputs_.abandon();
      results_.abandon();
      parts_.blocks.stop();
    }
  }

  // On any core, whatever the network's threads are bound to.
  void beside_the_network(void (Pipeline::*step)()) {
    run_anywhere();
    guarded([&] { (this->*step)(); });
  }

  bool should_stop() const { return hooks_.should_stop && hooks_.should_stop(); }
  Box input_box(int64_t number) const { return parts_.network.input_box(parts_.tiling.box(number)); }

  // Of the volume, what a block's input is made of.
  Box stored_box(int64_t number) const {
    return parts_.border == Border::reflect ? source_box(input_box(number), parts_.tiling.volume)
                                            : intersection(input_box(number), whole(parts_.tiling.volume));
  }

  void read() {
    const size_t voxel_bytes = size_of(parts_.input.info().type);
    while (!should_stop()) {
      const auto number = parts_.blocks.next(durable_);
      if (!number) break;
      Stored block = {*number, stored_box(*number)};
      block.voxels = Buffer(static_cast<size_t>(voxels(block.box)) * voxel_bytes);
      parts_.input.read(block.box, {block.voxels.data(), block.voxels.bytes()});
      figures_.bytes_read += static_cast<int64_t>(block.voxels.bytes());
      if (!stored_.push(std::move(block))) return;
    }
    if (should_stop()) parts_.blocks.stop();
    stored_.close();
  }

  void prepare() {
    while (auto block = stored_.pop()) {
      Floats inside = make_floats(block->number, voxels(block->box));
      to_floats({block->voxels.data(), block->voxels.bytes()}, parts_.input.info().type, parts_.normalization,
                inside.span());
      if (!inputs_.push(padded(*block, std::move(inside)))) return;
    }
    inputs_.close();
  }

  Floats padded(const Stored& block, Floats inside) const {
    const Box wanted = input_box(block.number);
    if (wanted == block.box) return inside;
    Floats input = make_floats(block.number, voxels(wanted));
    if (parts_.border == Border::reflect) {
      mirror_into(wanted, parts_.tiling.volume, block.box, inside.span(), input.span());
    } else {
      place_into(wanted, block.box, inside.span(), input.span());
    }
    return input;
  }

  void compute() {
    while (auto input = inputs_.pop()) {
      if (should_stop()) {
        parts_.blocks.stop();
        break;
      }
      const Box box = parts_.tiling.box(input->number);
      Floats result = make_floats(input->number, parts_.network.channels() * voxels(box));
      const double begin = now_ms();
      parts_.network.run(box, input->span(), result.span());
      figures_.network_ms += now_ms() - begin;
      figures_.input_voxels += static_cast<int64_t>(input->span().size());
      if (input->number == parts_.pictured_block)
        figures_.slices = block_slices(box, input_box(input->number), input->span(), result.span());
      if (!results_.push(std::move(result))) return;
    }
    // Whoever stops early computes nothing more of what was read.
    stored_.abandon();
    inputs_.abandon();
    results_.close();
  }

  void write() {
    while (auto result = results_.pop()) {
      const DoneBlock done = write_block(parts_.output, parts_.tiling.box(result->number), result->span());
      parts_.journal.note(result->number, done);
      figures_.blocks = ++durable_;
      figures_.output_voxels += voxels(parts_.tiling.box(result->number));
      figures_.bytes_written += done.bytes;
      if (hooks_.on_block) hooks_.on_block(figures_.blocks);
    }
  }

  const PipelineParts& parts_;
  const PipelineHooks& hooks_;
  BoundedQueue<Stored> stored_;
  BoundedQueue<Floats> inputs_, results_;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<int64_t> durable_ = 0;  // blocks
  PipelineFigures figures_;           // each of them is one thread's until all have ended
};

}  // namespace

int64_t pipeline_bytes(int64_t input_voxels, int64_t output_values) {
  // Those that wait, and those in the hands of the steps before and behind.
  constexpr auto kOnTheWay = static_cast<int64_t>(kBlocksAhead) + 2;
  return kOnTheWay * static_cast<int64_t>(sizeof(float)) * (2 * input_voxels + output_values);
}

PipelineFigures run_pipeline(const PipelineParts& parts, const PipelineHooks& hooks) {
  return Pipeline(parts, hooks).run();
}

}  // namespace tacho
