#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/device_times.h"
#include "results/epoch.h"
#include "results/system_info.h"
#include "results/verdict.h"
#include "results/volume_slice.h"

namespace tacho {

inline const std::initializer_list<std::string_view> kKinds = {"bench", "train", "predict"};
inline const std::initializer_list<std::string_view> kModes = {"infer", "train"};
inline const std::initializer_list<std::string_view> kParallels = {"allreduce", "scatter", "replicas"};

// One result, complete in itself: the only bridge from measuring to reporting. Its fields' names and formats
// are the table in results/fields.h.
struct Record {
  static constexpr int kSchema = 1;

  int schema = kSchema;
  std::string id = {};
  std::string time = {};   // ISO 8601, UTC
  std::string kind = {};   // of kKinds
  std::string run = {};    // shared by the cells of one call
  std::string suite = {};  // the suite's name, if it was one
  std::string command = {};

  std::string model = {};
  std::string mode = {};  // of kModes
  std::string engine = {}, device = {}, precision = {};
  std::string gpu = {};     // of rank 0: its bus_id among those of the system
  int64_t batch = 0;        // per device
  int64_t batch_total = 0;  // only where it does not divide by the devices
  int devices = 0;
  int threads = 0;
  int nodes = 0;              // machines that the devices were on
  std::string parallel = {};  // how devices share a pass: of kParallels; empty for one device, unless scatter
  std::string batch_norm = {};  // "sync" where its statistics are those of all devices' batches
  int bucket_mib = 0;           // gradients that are exchanged in one go
  std::string exchange = {};    // how: "ring" or "ring through the host" over MPI, or "NCCL"
  std::string image = {};       // always every axis: "224x224", "40x216x216"
  int64_t classes = 0;
  std::optional<int> warmup = {};
  int repeat = 0;
  std::optional<uint64_t> seed = {};
  std::string weights = {};   // the file; empty for random weights
  std::string kernel = {};    // forced; empty where the engine chose
  std::string autotune = {};  // of a GPU: "on" where its library timed its own convolutions, or "off"
  std::string memory = {};    // "low" where activations were computed again rather than kept
  std::string data = {};      // of a training run: where its images came from
  std::string recipe = {};    // of a training run: its method in words

  // The method of a training run.
  std::string optimizer = {}, schedule = {}, augmentation = {};
  std::string targets = {};  // of a volume: "affinities" or "boundaries"
  std::optional<double> learning_rate = {}, momentum = {},
                        weight_decay = {};  // the schedule starts from the first
  std::optional<double> warmup_epochs = {}, label_smoothing = {}, dropout = {};
  std::optional<bool> shuffle = {};
  std::optional<int64_t> subset = {}, planned_epochs = {}, planned_steps = {};

  // What the time covers beside the passes: "update", "transfer", "halo", "validation".
  std::vector<std::string> time_includes = {};
  std::string interleaved = {};  // cells with the same mark took turns, pass by pass
  std::vector<double> samples_ms = {};
  std::optional<double> median_ms = {}, mad_ms = {}, min_ms = {}, mean_ms = {};
  std::optional<double> median_low_ms = {}, median_high_ms = {};  // 95 % interval of the median
  std::optional<double> p95_ms = {};
  std::optional<double> drift_percent = {};  // second half of the samples against the first
  std::optional<int> outliers = {};
  std::optional<double> forward_ms = {}, backward_ms = {},
                        update_ms = {};  // means over the devices, as all below
  std::optional<double> scatter_ms = {}, gather_ms = {}, allreduce_ms = {}, exposed_allreduce_ms = {},
                        wait_ms = {};          // see RankTimes
  std::optional<int64_t> bytes_moved = {};     // between devices in one pass, over all of them
  int64_t steps_left_out = 0;                  // of training: updates whose gradients overflowed
  std::vector<RankTimes> ranks = {};           // of several devices
  std::vector<GradientBucket> buckets = {};    // of training, in the order of the backward pass
  std::map<std::string, double> lost_ms = {};  // by part: what a pass takes longer than on one device alone
  std::optional<double> images_per_s = {}, forward_images_per_s = {}, backward_images_per_s = {},
                        speedup = {};
  std::optional<int64_t> flop_per_pass = {}, bytes_per_pass = {};
  std::optional<double> gflops = {}, percent_of_peak = {};
  std::optional<double> joules_per_image = {};
  std::optional<double> compile_ms = {}, peak_memory_mib = {}, plan_memory_mib = {};
  std::optional<double> evaluation_plan_memory_mib = {};
  std::map<std::string, double> phase_memory_mib = {};  // by phase: data, train, evaluate, checkpoint

  std::vector<Epoch> epochs = {};
  std::optional<double> seconds = {}, seconds_per_epoch = {}, train_accuracy = {}, test_accuracy = {};
  std::optional<double> evaluation_seconds = {}, wait_percent = {}, target_accuracy = {},
                        seconds_to_target = {};
  // Of a volume's held-out part: Dice loss, the best constant answer's, F1 of boundaries.
  std::optional<double> test_loss = {}, constant_loss = {}, boundary_f1 = {};
  std::optional<int64_t> iterations = {}, epoch_count = {};
  std::optional<double> iterations_per_min = {}, output_mvox_per_s = {};

  // Of a prediction: how its volume was cut, and what its pipeline did.
  std::string block = {}, halo = {}, border = {}, dtype = {},
              compression = {};  // "64x128x128"; halo: or "exact"
  int64_t blocks = 0;            // computed by this call
  std::optional<int64_t> bytes_read = {}, bytes_written = {};
  std::optional<double> input_mvox_per_s = {}, device_idle_percent = {}, halo_saved_percent = {};
  std::optional<double> input_wait_ms = {}, output_wait_ms = {};   // the network: for a block, for the writer
  std::optional<double> reader_wait_ms = {}, writer_wait_ms = {};  // those around it: for the network
  std::vector<VolumeSlice> slices = {};                            // of a block in the middle

  // Only of published results: the name of their set, and what is known about them.
  std::string reference = {}, source = {}, protocol = {}, known_error = {}, correction = {};
  std::map<std::string, double> corrected = {};     // the right figure, by the field's name
  std::map<std::string, double> extrapolated = {};  // figures that were published but not measured

  Judgement judgement = {};
  SystemInfo system = {};
  Carried carried = {};
};

}  // namespace tacho
