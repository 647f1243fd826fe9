#include <fmt/format.h>

#include <memory>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "bench/machine.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "kernels/peak/peak.h"
#include "report/grid.h"
#include "results/environment.h"
#include "results/format.h"
#include "results/record_json.h"

namespace tacho {
namespace {

struct SystemOptions {
  OutputOptions output;
  std::string name;
};

struct Speed {
  int threads = 1;
  double fma_gflops = 0, bandwidth_gbs = 0;
};

struct Findings {
  SystemInfo system;
  CpuInfo cpu;
  std::string instruction_set;
  int64_t available_memory_bytes = 0;
  std::vector<std::string> warnings;
  std::vector<Speed> speeds;
};

Findings look(const std::string& name) {
  Findings found = {.system = capture_system(name),
                    .cpu = cpu_info(),
                    .instruction_set = to_string(widest_instruction_set()),
                    .available_memory_bytes = available_memory_bytes(),
                    .warnings = noise_warnings(),
                    .speeds = {}};
  found.speeds.push_back({.threads = 1});
  if (found.system.cores > 1) found.speeds.push_back({.threads = found.system.cores});
  for (Speed& speed : found.speeds) {
    speed.fma_gflops = measure_fma_gflops(speed.threads);
    speed.bandwidth_gbs = measure_bandwidth_gbs(speed.threads);
  }
  return found;
}

std::string topology(const CpuInfo& cpu) {
  return fmt::format("sockets {}, cores {}, logical CPUs {}, NUMA nodes {}, SMT {}", cpu.sockets,
                     cpu.physical_cores, cpu.logical_cpus, cpu.numa_nodes, cpu.smt ? "on" : "off");
}

void add_build(const Findings& found, Grid& grid) {
  for (const auto& [name, version] : found.system.engines) grid.rows.push_back({"engine " + name, version});
  for (const auto& [name, version] : found.system.libraries)
    grid.rows.push_back({"library " + name, version});
  const std::string commit = found.system.commit.empty() ? "" : ", commit " + found.system.commit;
  grid.rows.push_back(
      {"tacho", fmt::format("{}{}, {}", found.system.version, commit, found.system.build_type)});
  grid.rows.push_back({"compiler", found.system.compiler});
}

void add_speeds(const Findings& found, Grid& grid) {
  for (const Speed& speed : found.speeds) {
    const std::string threads = speed.threads == 1 ? "1 thread" : fmt::format("{} threads", speed.threads);
    grid.rows.push_back({"FMA peak, " + threads, format_significant(speed.fma_gflops, 3) + " GFLOP/s"});
    grid.rows.push_back(
        {"memory bandwidth, " + threads, format_significant(speed.bandwidth_gbs, 3) + " GB/s"});
  }
}

Grid grid_of(const Findings& found) {
  const CpuInfo& cpu = found.cpu;
  Grid grid = {.columns = {{"what"}, {"value"}}, .rows = {}};
  grid.rows = {
      {"system", found.system.name},
      {"CPU", cpu.model},
      {"topology", topology(cpu)},
      {"usable cores", std::to_string(found.system.cores)},
      {"instruction set", found.instruction_set},
      {"caches", fmt::format("L1d {}, L2 {}, L3 {}", format_bytes(cpu.l1d_bytes), format_bytes(cpu.l2_bytes),
                             format_bytes(cpu.l3_bytes))},
      {"governor", cpu.governor.empty() ? "unknown" : cpu.governor},
      {"memory", fmt::format("{}, {} available", format_bytes(found.system.memory_mib << 20),
                             format_bytes(found.available_memory_bytes))},
      {"OS", found.system.os},
  };
  add_build(found, grid);
  add_speeds(found, grid);
  for (const std::string& warning : found.warnings) grid.rows.push_back({"warning", warning});
  return grid;
}

Json json_of(const Findings& found) {
  const CpuInfo& cpu = found.cpu;
  Json object = to_json(found.system);
  object["topology"] = {{"sockets", cpu.sockets},
                        {"physical_cores", cpu.physical_cores},
                        {"logical_cpus", cpu.logical_cpus},
                        {"numa_nodes", cpu.numa_nodes},
                        {"smt", cpu.smt}};
  object["instruction_set"] = found.instruction_set;
  object["caches_bytes"] = {{"l1d", cpu.l1d_bytes}, {"l2", cpu.l2_bytes}, {"l3", cpu.l3_bytes}};
  if (!cpu.governor.empty()) object["governor"] = cpu.governor;
  object["available_memory_mib"] = found.available_memory_bytes >> 20;
  object["measured"] = Json::array();
  for (const Speed& speed : found.speeds) {
    object["measured"].push_back({{"threads", speed.threads},
                                  {"fma_gflops", speed.fma_gflops},
                                  {"bandwidth_gbs", speed.bandwidth_gbs}});
  }
  object["warnings"] = found.warnings;
  return object;
}

std::string system_text(const SystemOptions& options) {
  const Format format = chosen_format(options.output);
  if (format == Format::csv || format == Format::jsonl) {
    throw UserError("--format: 'tacho system' prints table, md or json");
  }
  const Findings found = look(options.name);
  if (format == Format::json) return json_of(found).dump(2) + "\n";
  return format == Format::md ? render_markdown(grid_of(found)) : render_plain(grid_of(found));
}

}  // namespace

void add_system_command(CLI::App& app, CommandContext&) {
  auto options = std::make_shared<SystemOptions>();
  CLI::App* command =
      app.add_subcommand("system", "Describe this machine and build, and measure its peak GFLOP/s and GB/s");
  add_output_options(*command, options->output, "table, md or json");
  command->add_option("--system", options->name, "Name of this machine; default: the host's name");
  command->callback([options] {
    check_output(options->output);
    write_output(options->output, system_text(*options));
  });
}

}  // namespace tacho
