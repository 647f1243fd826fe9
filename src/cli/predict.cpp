#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/axis_options.h"
#include "cli/commands.h"
#include "cli/driver.h"
#include "cli/point_option.h"
#include "predict/border_name.h"
#include "session/predict_item.h"

namespace tacho {
namespace {

// As typed, where it is no member of the job yet.
struct PredictOptions {
  PredictionJob job;
  std::string block, chunk, halo = "exact", border = "reflect", type = "uint8", compression = "blosc",
                            normalization;
  TypedAxes execution = default_axes();
  KeepOptions keep;
};

VoxelNormalization parse_normalization(const std::string& text) {
  const auto words = split(text, ',');
  const auto mean = parse_number(words[0]);
  const auto deviation = words.size() == 2 ? parse_number(words[1]) : std::nullopt;
  if (!mean || !deviation || *deviation <= 0)
    throw UserError("--normalize '{}': mean,deviation, as the input stores its voxels: 128,33.5", text);
  return {*mean, *deviation};
}

VoxelType parse_output_type(const std::string& name) {
  for (const VoxelType type : {VoxelType::u8, VoxelType::f32}) {
    if (name == name_of(type)) return type;
  }
  throw UserError("--dtype '{}': uint8 or float32", name);
}

void complete(PredictOptions& options, const World& world) {
  PredictionJob& job = options.job;
  job.execution = execution_of(options.execution, world);
  if (!options.block.empty()) job.block = parse_point("--block", options.block);
  if (!options.chunk.empty()) job.chunk = parse_point("--chunk", options.chunk);
  if (options.halo != "exact") job.halo = parse_point("--halo", options.halo);
  job.border = parse_border(options.border);
  job.type = parse_output_type(options.type);
  job.compression = parse_compression(options.compression);
  if (!options.normalization.empty()) job.normalization = parse_normalization(options.normalization);
}

void add_volume_options(Command command, PredictOptions& options) {
  PredictionJob& job = options.job;
  command.option("model", job.model, "A volume network of 'tacho models'").required().suggest(model_names());
  command.option("--weights", job.weights, "Its weights, a safetensors file").required();
  command.option("--input", job.input, "F.h5:/path or DIR.zarr[:/path]; F.h5 alone: /volumes/raw").required();
  command.option("--output", job.output, "The OME-NGFF folder to make: DIR.zarr").required();
  command.flag("--resume", job.resume, "Go on with an output that was begun");
  command.option("--normalize", options.normalization,
                 "mean,deviation in stored units; default: integers become 0..1 by their type's range");
}

void add_block_options(Command command, PredictOptions& options) {
  command.option(
      "--block", options.block,
      "Voxels of the output that are computed at once, z,y,x; default: chosen from memory and speed");
  command
      .option("--halo", options.halo,
              "Voxels around a block that the network sees: exact, all that matter, or z,y,x")
      .show_default();
  command
      .option("--border", options.border,
              "Beyond the volume: reflect, its mirror image, or network, the network's own zeros")
      .show_default();
  command.option("--dtype", options.type, "Of the output: uint8 (255 times the result) or float32")
      .show_default();
  command.option("--compression", options.compression, "Of the output: " + list_of_compressions())
      .show_default();
  command.option("--chunk", options.chunk,
                 "Of the output, z,y,x: a divisor of the block; default: the block");
}

}  // namespace

void add_predict_command(Command app, CommandContext& context) {
  auto options = std::make_shared<PredictOptions>();
  Command command =
      app.subcommand("predict", "Run a network over a volume of any size, block by block, to a zarr folder");
  add_volume_options(command, *options);
  add_block_options(command, *options);
  add_execution_options(command, options->execution);
  add_keep_options(command, options->keep, "-o");
  command.on_run([options, &context] {
    complete(*options, context.ranks.world());
    const Job job = {.items = predict_item(options->job),
                     .first_result = "the first block was finished",
                     .after_loss = "the same call with --resume goes on"};
    run_job(job, options->keep, context);
  });
}

}  // namespace tacho
