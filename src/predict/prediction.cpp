#include "predict/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_values.h"
#include "base/memory.h"
#include "base/text.h"
#include "distributed/collectives.h"
#include "distributed/seat.h"
#include "distributed/together.h"
#include "engine/engines.h"
#include "graph/receptive_field.h"
#include "models/zoo.h"
#include "predict/block_choice.h"
#include "predict/blocks_left.h"
#include "predict/identity.h"
#include "predict/output_lock.h"
#include "results/record_json.h"
#include "tensors/model_weights.h"

namespace tacho {
namespace {

constexpr double kMemoryShare = 0.6;     // of what is available, for the network's plans
constexpr int64_t kBlocksPerDevice = 8;  // of several, so that none waits long for another at the end

Graph network_of(const Model& model) { return build_model(model, {.batch = 1}); }

VoxelNormalization normalization_of(const PredictionJob& job, const VolumeInfo& info) {
  try {
    const VoxelNormalization by_range = default_normalization(info.type);
    return job.normalization.value_or(by_range);
  } catch (const UserError& error) {
    throw UserError("{} {}", info.name, error.what());
  }
}

// One prediction on one rank. Every step is taken by all ranks together.
class Prediction {
 public:
  Prediction(const PredictionJob& job, World& world, Communicator& ranks, const PredictionHooks& hooks)
      : job_(job),
        world_(world),
        ranks_(ranks),
        hooks_(hooks),
        engine_(find_engine(job.execution.engine)),
        network_(network_of(find_model(job.model))) {}

  PredictionResult run(const std::filesystem::path& kernel_cache) {
    take_seat(world_, job_.execution.devices, job_.execution.threads);
    together(ranks_, [&] { open_input(); });
    compiling([&] { choose(kernel_cache); });
    together(ranks_, [&] {
      if (is_first()) open_output();
    });
    together(ranks_, [&] {
      if (!is_first()) output_.emplace(ZarrOutput::open(job_.output, description_));
    });
    const auto left = blocks_left(ranks_, job_.output, *output_, tiling_,
                                  {.on_block = hooks_.on_check, .should_stop = hooks_.should_stop});
    result_.stopped_checking = !left.has_value();
    if (left) compute(*left);
    return gathered();
  }

 private:
  bool is_first() const { return ranks_.rank() == 0; }

  // Its time counts as compiling.
  void compiling(const std::function<void()>& step) {
    const double begin = now_ms();
    step();
    result_.compile_ms += now_ms() - begin;
  }

  void compute(const std::vector<int64_t>& left) {
    result_.blocks_before = result_.all_blocks - static_cast<int64_t>(left.size());
    if (left.empty()) return;
    pictured_block_ = left[left.size() / 2];
    compiling([&] { compile_or_leave_nothing(); });
    together(ranks_, [&] { journal_.emplace(job_.output, ranks_.rank()); });
    together(ranks_, [&] { run_blocks(left); });
  }

  void open_input() {
    input_ = open_volume(job_.input);
    normalization_ = normalization_of(job_, input_->info());
    result_.volume = input_->info().shape;
    ModelWeights read = read_model_weights(job_.weights, find_model(job_.model), network_);
    if (!read.note.empty() && hooks_.note) hooks_.note(read.note);
    weights_ = std::move(read.weights);
  }

  // Rank 0 measures for all.
  void choose(const std::filesystem::path& kernel_cache) {
    together(ranks_, [&] {
      options_ =
          compile_options(job_.execution, 0, Sgd{}, kernel_cache, world_.seat(job_.execution.devices).index);
    });
    block_ = {.block = job_.block.value_or(Point{}), .border = job_.border, .halo = job_.halo};
    together(ranks_, [&] {
      if (!is_first() || job_.block) return;
      const auto before = job_.resume ? block_of_identity(job_.output) : std::nullopt;
      if (before) {
        block_.block = *before;
        return;
      }
      const auto memory = static_cast<int64_t>(kMemoryShare * static_cast<double>(memory_left()));
      const BlockChoice choice = choose_block(
          network_, weights_, engine_, options_, result_.volume, block_,
          {.memory_bytes = memory, .blocks = ranks_.size() > 1 ? kBlocksPerDevice * ranks_.size() : 1});
      block_.block = choice.block;
      if (hooks_.note) hooks_.note(choice.reason);
    });
    for (int64_t& extent : block_.block) extent = broadcast(ranks_, extent);
    result_.block = block_.block;
    tiling_ = {result_.volume, block_.block};
    result_.all_blocks = tiling_.count();
    description_ = {.channels = network_.shape(network_.outputs[0])[1],
                    .shape = result_.volume,
                    .chunk = job_.chunk.value_or(block_.block),
                    .type = job_.type,
                    .compression = job_.compression,
                    .voxel_size = input_->info().voxel_size,
                    .name = job_.model};
    together(ranks_, [&] {
      check_chunk();
      ZarrOutput::check(job_.output, description_);
      check_block();
    });
  }

  int64_t memory_left() const { return available_memory_bytes() / world_.seat(job_.execution.devices).count; }

  // Of the network, of the blocks on their way, and of a chunk that is written: padded, and compressed.
  int64_t bytes_needed() const {
    const BlockCost cost = estimate_block(network_, engine_, options_, result_.volume, block_);
    const Box largest_block = tiling_.box(0);
    const int64_t chunk_values = description_.channels * voxels(description_.chunk);
    return cost.memory_bytes +
           pipeline_bytes(cost.input_voxels, description_.channels * voxels(largest_block)) +
           2 * chunk_values * static_cast<int64_t>(size_of(description_.type));
  }

  // Before there is any output.
  void check_block() const {
    const int64_t needed = bytes_needed(), left = memory_left();
    if (needed <= left) return;
    throw UserError("--block {}: takes {}, and {} are left; take a smaller one{}", to_string(block_.block),
                    format_bytes(needed), format_bytes(left),
                    job_.execution.devices > 1 ? " or fewer --devices" : "");
  }

  void check_chunk() const {
    for (size_t axis = 0; axis < block_.block.size(); ++axis) {
      if (block_.block[axis] % description_.chunk[axis] == 0) continue;
      throw UserError("--chunk {}: must divide the block {} along every axis", to_string(description_.chunk),
                      to_string(block_.block));
    }
  }

  void open_output() {
    const Json identity = prediction_identity({.model = job_.model,
                                               .weights = weights_,
                                               .input = *input_,
                                               .normalization = normalization_,
                                               .execution = job_.execution,
                                               .block = block_,
                                               .output = description_});
    lock_.emplace(job_.output);
    const bool begun = is_begun(job_.output);
    if (begun) {
      check_identity(job_.output, identity);
      note_rounding(different_rounding(job_.output, identity));
    }
    remove_temporary_files(job_.output);
    if (!begun) {
      begun_now_ = true;
      write_identity(job_.output, identity);
    }
    output_.emplace(ZarrOutput::complete(job_.output, description_));
  }

  void note_rounding(const std::string& differences) const {
    if (differences.empty() || !hooks_.note) return;
    hooks_.note(fmt::format("{} was begun with {}: what is computed now may be rounded otherwise",
                            job_.output.string(), differences));
  }

  // An output that could never be computed is in nobody's way.
  void compile_or_leave_nothing() {
    try {
      compile();
    } catch (...) {
      std::error_code none;
      if (begun_now_) std::filesystem::remove_all(job_.output, none);
      throw;
    }
  }

  // The kernels that computed the first block compute all of them, on every rank and after every resumption:
  // others would round otherwise.
  void compile() {
    options_.kernel_record = journal_folder(job_.output) / "kernels.tsv";
    const auto make = [&] { runner_.emplace(network_, weights_, engine_, options_, result_.volume, block_); };
    together(ranks_, [&] {
      if (is_first()) make();
    });
    together(ranks_, [&] {
      if (!is_first()) make();
    });
    weights_.clear();
    result_.plan_bytes = runner_->memory_bytes();
    result_.saved_share = runner_->cost().saved();
  }

  void run_blocks(const std::vector<int64_t>& left) {
    Dealer dealer(ranks_, left);
    const PipelineParts parts = {.input = *input_,
                                 .normalization = normalization_,
                                 .border = job_.border,
                                 .tiling = tiling_,
                                 .network = *runner_,
                                 .output = *output_,
                                 .journal = *journal_,
                                 .blocks = dealer,
                                 .pictured_block = pictured_block_};
    figures_ = run_pipeline(parts, {.on_block =
                                        [&](int64_t blocks) {
                                          if (hooks_.on_block)
                                            hooks_.on_block(
                                                result_.blocks_before + blocks + dealer.finished_elsewhere(),
                                                result_.all_blocks);
                                        },
                                    .should_stop = hooks_.should_stop});
  }

  PredictionResult gathered() {
    const auto sum = [&](auto own) {
      const auto number = static_cast<double>(own);
      const auto all = all_gather(ranks_, {&number, 1});
      return std::accumulate(all.begin(), all.end(), 0.0);
    };
    const auto largest = [&](auto own) {
      const auto number = static_cast<double>(own);
      const auto all = all_gather(ranks_, {&number, 1});
      return *std::ranges::max_element(all);
    };
    const auto mean = [&](double own) { return sum(own) / ranks_.size(); };
    result_.blocks = static_cast<int64_t>(sum(figures_.blocks));
    result_.output_voxels = static_cast<int64_t>(sum(figures_.output_voxels));
    result_.input_voxels = static_cast<int64_t>(sum(figures_.input_voxels));
    result_.bytes_read = static_cast<int64_t>(sum(figures_.bytes_read));
    result_.bytes_written = static_cast<int64_t>(sum(figures_.bytes_written));
    result_.seconds = largest(figures_.seconds);
    result_.network_ms = mean(figures_.network_ms);
    result_.input_wait_ms = mean(figures_.input_wait_ms);
    result_.output_wait_ms = mean(figures_.output_wait_ms);
    result_.reader_wait_ms = mean(figures_.reader_wait_ms);
    result_.writer_wait_ms = mean(figures_.writer_wait_ms);
    result_.plan_bytes = static_cast<int64_t>(largest(result_.plan_bytes));
    result_.peak_memory_bytes = static_cast<int64_t>(largest(peak_memory_bytes()));
    result_.flop = sum(figures_.flop);
    const int devices = job_.execution.devices;
    result_.hosts.assign(world_.hosts().begin(), world_.hosts().begin() + devices);
    result_.has_cores = world_.has_cores_for(devices, job_.execution.threads);
    result_.slices = gathered_slices();
    return result_;
  }

  // One rank has them.
  std::vector<VolumeSlice> gathered_slices() {
    std::vector<VolumeSlice> slices;
    for (const std::string& text : all_gather(ranks_, to_text(json_of(figures_.slices)))) {
      const Json list = parse_json(text);
      if (!list.is_null()) read(list, slices);
    }
    return slices;
  }

  const PredictionJob& job_;
  World& world_;
  Communicator& ranks_;
  const PredictionHooks& hooks_;
  const Engine& engine_;
  const Graph network_;
  std::unique_ptr<Volume> input_;
  VoxelNormalization normalization_;
  Weights weights_;
  CompileOptions options_;
  BlockOptions block_;
  Tiling tiling_;
  int64_t pictured_block_ = 0;
  ZarrDescription description_;
  std::optional<OutputLock> lock_;  // rank 0's, for as long as any rank writes
  std::optional<ZarrOutput> output_;
  std::optional<BlockRunner> runner_;
  std::optional<Journal> journal_;
  bool begun_now_ = false;  // by this rank in this call
  PipelineFigures figures_;
  PredictionResult result_;
};

void require_positive(const char* option, const std::optional<Point>& size, int64_t least) {
  if (!size || std::ranges::all_of(*size, [&](int64_t extent) { return extent >= least; })) return;
  throw UserError("{} {}: every number must be {} or more", option, to_string(*size), least);
}

}  // namespace

void check_prediction(const PredictionJob& job) {
  const Model& model = find_model(job.model);
  const Graph network = network_of(model);
  if (model.image.size() != 3 || model.channels != 1 || !receptive_field(network)) {
    throw UserError("{} predicts no volumes: take unet3d or unet3d_lite", model.name);
  }
  check_execution(job.execution, false);
  find_computing_engine(job.execution.engine);
  require_positive("--block", job.block, 1);
  require_positive("--chunk", job.chunk, 1);
  require_positive("--halo", job.halo, 0);
  if (!job.block && (job.chunk || job.halo))
    throw UserError("{} goes with a --block: say which", job.chunk ? "--chunk" : "--halo");
  // A halo fits or not, whatever the volume.
  if (job.halo) {
    estimate_block(network, find_engine(job.execution.engine), {}, {1, 1, 1},
                   {.block = *job.block, .border = job.border, .halo = job.halo});
  }
  if (job.type != VoxelType::u8 && job.type != VoxelType::f32)
    throw UserError("--dtype {}: uint8 or float32", name_of(job.type));
  std::error_code none;
  if (std::filesystem::exists(job.output, none) && !std::filesystem::is_directory(job.output, none))
    throw UserError("--output {}: is a file; name a directory that is not there yet", job.output.string());
  if (job.resume && is_begun(job.output)) require_identity(job.output);
  if (!job.resume && is_begun(job.output)) {
    throw UserError("--output {}: is there already; --resume goes on with it", job.output.string());
  }
}

std::optional<PredictionResult> predict(const PredictionJob& job, World& world,
                                        const std::filesystem::path& kernel_cache,
                                        const PredictionHooks& hooks) {
  const auto ranks = world.all().first(job.execution.devices);
  if (!ranks) return {};
  try {
    PredictionResult result;
    in_step(*ranks, [&] { result = Prediction(job, world, *ranks, hooks).run(kernel_cache); });
    return result;
  } catch (const OutOfMemory& error) {
    throw UserError("{}; take a smaller --block{}", error.what(),
                    job.execution.devices > 1 ? " or fewer --devices" : "");
  }
}

}  // namespace tacho
