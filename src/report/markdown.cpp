#include "report/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "report/grouped.h"
#include "report/table.h"
#include "results/format.h"

namespace tacho {
namespace {

// Records of one machine or one published set, in the order in which they were measured.
struct Group {
  std::string name;
  bool published = false;
  std::vector<Record> records = {};
};

std::string owner(const Record& record) {
  if (!record.reference.empty()) return record.reference;
  return fmt::format("{} {}", record.system.machine_id, record.system.name);
}

std::vector<Group> groups_of(std::span<const Record> records) {
  std::vector<Group> groups;
  for (std::vector<Record>& members : grouped(records, owner)) {
    const bool published = !members.front().reference.empty();
    groups.push_back(
        {published ? members.front().reference : members.front().system.name, published, std::move(members)});
  }
  std::ranges::stable_partition(groups, [](const Group& group) { return !group.published; });
  return groups;
}

void add_item(std::string& text, std::string_view name, std::string_view value) {
  if (!value.empty()) text += fmt::format("- {}: {}\n", name, value);
}

std::string machine_summary(const SystemInfo& system) {
  std::string text;
  add_item(text, "CPU", system.cpu);
  if (system.cores > 0) add_item(text, "usable cores", std::to_string(system.cores));
  if (system.memory_mib > 0) add_item(text, "memory", format_bytes(system.memory_mib << 20));
  add_item(text, "operating system", system.os);
  for (const MachineSpeed& speed : system.speeds) {
    add_item(text, fmt::format("measured on {} {}", speed.threads, speed.threads == 1 ? "thread" : "threads"),
             fmt::format("{} GFLOP/s, {} GB/s", format_significant(speed.fma_gflops, 3),
                         format_significant(speed.bandwidth_gbs, 3)));
  }
  for (const GpuSpeed& speed : system.gpu_speeds) {
    add_item(text, fmt::format("measured on {} {}, {}", speed.devices, speed.device, speed.precision),
             fmt::format("{} GFLOP/s, products of {} rows", format_significant(speed.product_gflops, 3),
                         speed.product_rows));
  }
  if (!system.version.empty()) {
    add_item(text, "tacho",
             fmt::format("{}{}{}, {}", system.version, system.commit.empty() ? "" : ", commit ",
                         system.commit, system.build_type));
  }
  for (const std::string& warning : system.warnings) add_item(text, "warning", warning);
  return text;
}

std::string published_summary(const Record& record) {
  std::string text;
  add_item(text, "source", record.source);
  add_item(text, "protocol", record.protocol);
  return text;
}

// Commands, each once.
std::string commands(std::span<const Record> records) {
  std::string text;
  for (const std::vector<Record>& same : grouped(records, &Record::command)) {
    if (const std::string& command = same[0].command; !command.empty()) text += command + "\n";
  }
  return text.empty() ? "" : fmt::format("\n```\n{}```\n", text);
}

std::string section(const Group& group) {
  const Record& newest = group.records.back();
  std::string text = fmt::format("\n## {}\n\n", group.name);
  text += group.published ? published_summary(newest) : machine_summary(newest.system);
  for (const std::vector<Record>& records : grouped(group.records, &Record::kind)) {
    const std::string& kind = records[0].kind;
    text += fmt::format("\n### {}\n\n", kind.empty() ? "results" : kind);
    text += format_records(records, Format::md, true) + commands(records);
  }
  return text;
}

}  // namespace

std::string markdown_report(std::span<const Record> records) {
  std::string text = "# tacho report\n";
  for (const Group& group : groups_of(records)) text += section(group);
  return text;
}

}  // namespace tacho
