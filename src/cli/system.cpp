#include <fmt/ranges.h>

#include <array>
#include <memory>

#include "base/energy.h"
#include "base/error.h"
#include "base/json_values.h"
#include "base/memory.h"
#include "base/network_speed.h"
#include "base/text.h"
#include "bench/machine.h"
#include "capture/environment.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/start_ranks.h"
#include "distributed/collectives.h"
#include "distributed/link.h"
#include "distributed/together.h"
#include "kernels/peak/peak.h"
#include "report/grid.h"
#include "results/format.h"
#include "results/record_json.h"
#include "session/peaks.h"

namespace tacho {
namespace {

struct SystemOptions {
  OutputOptions output;
  std::string name;
  bool network = false;
};

constexpr int kLocalRanks = 2;  // where no launcher made any

SystemInfo look(const std::string& name) {
  SystemInfo system = capture_system(name);
  system.warnings = noise_warnings();
  system.engine_details = engine_details();
  system.speeds.push_back(measure_speed(1));
  if (system.cores > 1) system.speeds.push_back(measure_speed(system.cores));
  system.gpu_speeds = measure_gpus(system.engine_details);
  return system;
}

std::string topology(const SystemInfo& system) {
  return fmt::format("sockets {}, cores {}, logical CPUs {}, NUMA nodes {}, SMT {}", system.sockets,
                     system.physical_cores, system.logical_cpus, system.numa_nodes,
                     system.smt.value_or(false) ? "on" : "off");
}

// "AVX2, 2 threads; cpu: f32, bf16", or why it cannot be loaded.
std::string what_it_has(const EngineInfo& engine) {
  if (!engine.missing.empty()) return engine.missing;
  std::vector<std::string> parts = {fmt::format("{}{}{} thread{}", engine.instruction_set,
                                                engine.instruction_set.empty() ? "" : ", ", engine.threads,
                                                engine.threads == 1 ? "" : "s")};
  for (const auto& [device, precisions] : engine.precisions)
    parts.push_back(fmt::format("{}: {}", device, fmt::join(precisions, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string describe(const GpuInfo& gpu) {
  std::string text = fmt::format("{}, driver {}", gpu.name, gpu.driver);
  if (gpu.memory_mib) text += ", " + format_bytes(*gpu.memory_mib << 20);
  if (gpu.clock_mhz) text += fmt::format(", {} MHz", *gpu.clock_mhz);
  if (gpu.power_limit_watts)
    text += fmt::format(", at most {} W", format_significant(*gpu.power_limit_watts, 3));
  if (gpu.clock_now_mhz) text += fmt::format(", now {} MHz", *gpu.clock_now_mhz);
  if (gpu.power_watts) text += fmt::format(", now {} W", format_significant(*gpu.power_watts, 3));
  if (!gpu.bus_id.empty()) text += ", " + gpu.bus_id;
  return text;
}

void add_build(const SystemInfo& system, Grid& grid) {
  for (const EngineInfo& engine : system.engine_details) {
    grid.rows.push_back({"engine " + engine.name,
                         fmt::format("{}; {}", system.engines.at(engine.name), what_it_has(engine))});
  }
  for (const auto& [name, version] : system.libraries) grid.rows.push_back({"library " + name, version});
  const std::string commit = system.commit.empty() ? "" : ", commit " + system.commit;
  grid.rows.push_back({"tacho", fmt::format("{}{}, {}", system.version, commit, system.build_type)});
  grid.rows.push_back({"compiler", system.compiler});
}

void add_speeds(const SystemInfo& system, Grid& grid) {
  for (const MachineSpeed& speed : system.speeds) {
    const std::string threads = speed.threads == 1 ? "1 thread" : fmt::format("{} threads", speed.threads);
    grid.rows.push_back({"FMA peak, " + threads, format_significant(speed.fma_gflops, 3) + " GFLOP/s"});
    grid.rows.push_back({"bf16 peak, " + threads, speed.bf16_gflops
                                                      ? format_significant(*speed.bf16_gflops, 3) + " GFLOP/s"
                                                      : "the CPU multiplies no bf16"});
    grid.rows.push_back(
        {"memory bandwidth, " + threads, format_significant(speed.bandwidth_gbs, 3) + " GB/s"});
  }
  for (const GpuSpeed& speed : system.gpu_speeds)
    grid.rows.push_back({speed.precision + " products, " + speed.device,
                         format_significant(speed.product_gflops, 3) + " GFLOP/s"});
}

Grid grid_of(const SystemInfo& system) {
  Grid grid = {.columns = {{"what"}, {"value"}}, .rows = {}};
  grid.rows = {
      {"system", system.name},
      {"machine id", system.machine_id},
      {"CPU", system.cpu},
      {"topology", topology(system)},
      {"usable cores", std::to_string(system.cores)},
      {"instruction set", system.instruction_set},
      {"caches", fmt::format("L1d {}, L2 {}, L3 {}", format_bytes(system.l1d_bytes),
                             format_bytes(system.l2_bytes), format_bytes(system.l3_bytes))},
      {"governor", system.governor.empty() ? "unknown" : system.governor},
      {"memory", fmt::format("{}, {} available", format_bytes(system.memory_mib << 20),
                             format_bytes(available_memory_bytes()))},
      {"OS", system.os},
  };
  grid.rows.push_back({"CPU energy", EnergyMeter().joules() ? "shown by the kernel: J/image is measured"
                                                            : "not shown by the kernel"});
  for (const GpuInfo& gpu : system.gpus) grid.rows.push_back({"GPU", describe(gpu)});
  add_build(system, grid);
  add_speeds(system, grid);
  for (const std::string& warning : system.warnings) grid.rows.push_back({"warning", warning});
  return grid;
}

std::string system_text(const SystemOptions& options) {
  const Format format = chosen_layout(options.output).format;
  if (format == Format::csv || format == Format::jsonl) {
    throw UserError("--format: 'tacho system' prints table, md or json");
  }
  const SystemInfo system = look(options.name);
  if (format == Format::json) return to_text(json_of(system), 2) + "\n";
  return format == Format::md ? render_markdown(grid_of(system)) : render_plain(grid_of(system));
}

// Between every two ranks, which all make the call.
std::string network_text(const SystemOptions& options, World& world) {
  const Layout layout = chosen_layout(options.output);
  const std::unique_ptr<Communicator> ranks = world.all().first(world.size());
  Grid grid = {.columns = {{"from"}, {"to"}, {"latency us", true}, {"GB/s", true}, {"--network"}},
               .rows = {}};
  for (int a = 0; a < world.size(); ++a) {
    for (int b = a + 1; b < world.size(); ++b) {
      const LinkSpeed own = measure_link(*ranks, a, b);
      const std::array numbers = {own.latency_us, own.bandwidth_gbs};
      const std::vector<double> all = all_gather(world.all(), numbers);
      const double latency_us = all[2 * static_cast<size_t>(a)], gbs = all[2 * static_cast<size_t>(a) + 1];
      grid.rows.push_back(
          {world.name_of(a), world.name_of(b), format_significant(latency_us, 3), format_significant(gbs, 3),
           to_string(NetworkSpeed{.bytes_per_s = gbs * 1e9, .latency_s = latency_us * 1e-6})});
    }
  }
  return layout.format == Format::csv ? render_csv(grid) : render(grid, layout);
}

void measure_network(const SystemOptions& options, CommandContext& context) {
  World& world = context.ranks.world();
  const Format format = chosen_layout(options.output).format;
  if (format == Format::json || format == Format::jsonl)
    throw UserError("--format: 'tacho system --network' prints table, md or csv");
  if (context.ranks.is_first()) check_output(options.output);
  if (!context.ranks.were_launched()) {
    start_ranks(kLocalRanks, "all ranks are stopped", context);
    return;
  }
  if (world.size() < 2) throw UserError("--network: the launcher gave 1 rank; ask it for 2 or more");
  context.ranks.agree_to_start("");
  std::string text;
  in_step(world.all(), [&] { text = network_text(options, world); });
  if (context.ranks.is_first()) write_output(options.output, text);
}

}  // namespace

void add_system_command(Command app, CommandContext& context) {
  auto options = std::make_shared<SystemOptions>();
  Command command =
      app.subcommand("system", "Describe this machine and build, and measure its peak GFLOP/s and GB/s");
  add_output_options(command, options->output, "table, md or json");
  command.option("--system", options->name, "Name of this machine; default: the host's name");
  command.flag(
      "--network", options->network,
      "Instead: latency and bandwidth between every two ranks of mpirun or srun; without them between two on "
      "this machine");
  command.on_run([options, &context] {
    if (options->network) return measure_network(*options, context);
    if (!context.ranks.is_first()) return;
    check_output(options->output);
    write_output(options->output, system_text(*options));
  });
}

}  // namespace tacho
