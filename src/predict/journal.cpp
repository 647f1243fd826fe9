#include "predict/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/json_values.h"
#include "base/text.h"

namespace tacho {
namespace {

constexpr int64_t kLongestAxis = int64_t{1} << 40;
constexpr std::string_view kIdentity = "prediction.json", kNotes = "done-";

// "17 345678 89abcdef ." The dot tells a whole line.
std::string line_of(int64_t block, const DoneBlock& done) {
  return fmt::format("{} {} {:08x} .\n", block, done.bytes, done.checksum);
}

void read_line(const std::string& line, std::map<int64_t, DoneBlock>& blocks) {
  const auto words = split(line, ' ');
  if (words.size() != 4 || words[3] != ".") return;
  const auto block = parse_integer(words[0]), bytes = parse_integer(words[1]);
  if (!block || !bytes) return;
  blocks[*block] = {*bytes, static_cast<uint32_t>(std::strtoul(words[2].c_str(), nullptr, 16))};
}

[[noreturn]] void refuse(const std::filesystem::path& path) {
  throw UserError("{}: cannot be written: {}", path.string(), std::strerror(errno));
}

Json read_identity(const std::filesystem::path& output) {
  require_identity(output);
  const std::filesystem::path path = journal_folder(output) / kIdentity;
  Json there = parse_json(read_file(path));
  if (!there.is_object()) throw UserError("{}: damaged; predict into another folder", path.string());
  return there;
}

}  // namespace

std::filesystem::path journal_folder(const std::filesystem::path& output) { return output / ".tacho"; }

Journal::Journal(const std::filesystem::path& output, int rank)
    : path_(journal_folder(output) / fmt::format("{}{}", kNotes, rank)) {
  // So that the file's name is durable too.
  if (!std::filesystem::exists(path_)) write_file_atomically(path_, "");
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) refuse(path_);
  // What a crash cut off ends here: the next note begins a line of its own.
  if (lseek(file_, 0, SEEK_END) > 0 && write(file_, "\n", 1) != 1) refuse(path_);
}

Journal::~Journal() { close(file_); }

void Journal::note(int64_t block, const DoneBlock& done) {
  const std::string line = line_of(block, done);
  const auto written = write(file_, line.data(), line.size());
  if (written >= 0 && static_cast<size_t>(written) < line.size()) errno = ENOSPC;
  if (written != static_cast<ssize_t>(line.size()) || fdatasync(file_) != 0) refuse(path_);
}

std::map<int64_t, DoneBlock> read_journal(const std::filesystem::path& output) {
  std::map<int64_t, DoneBlock> blocks;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(journal_folder(output), none)) {
    if (!entry.path().filename().string().starts_with(kNotes)) continue;
    for (const std::string& line : split(read_file(entry.path()), '\n')) read_line(line, blocks);
  }
  return blocks;
}

bool is_begun(const std::filesystem::path& output) {
  std::error_code none;
  if (!std::filesystem::is_directory(output, none)) return std::filesystem::exists(output, none);
  const std::filesystem::path journal = journal_folder(output);
  return std::filesystem::exists(journal / kIdentity, none) ||
         std::ranges::any_of(std::filesystem::directory_iterator(output, none),
                             [&](const auto& entry) { return entry.path() != journal; });
}

void write_identity(const std::filesystem::path& output, const Json& identity) {
  make_folders(journal_folder(output));
  write_file_atomically(journal_folder(output) / kIdentity, to_text(identity, 2) + "\n");
}

std::optional<Point> block_of_identity(const std::filesystem::path& output) {
  const Json there = parse_json(read_file_if_present(journal_folder(output) / kIdentity));
  const auto found = there.is_object() ? there.find("block") : there.end();
  if (found == there.end()) return {};
  try {
    const auto block = found->get<Point>();
    const bool possible =
        std::ranges::all_of(block, [](int64_t extent) { return extent > 0 && extent <= kLongestAxis; });
    return possible ? std::optional(block) : std::nullopt;
  } catch (const Json::exception&) {
    return {};
  }
}

void require_identity(const std::filesystem::path& output) {
  std::error_code none;
  if (!std::filesystem::exists(journal_folder(output) / kIdentity, none))
    throw UserError("--resume: {} is no prediction that was begun by 'tacho predict'", output.string());
}

void check_identity(const std::filesystem::path& output, const Json& identity) {
  const Json there = read_identity(output);
  for (const auto& [name, value] : identity.items()) {
    if (name == kRounding) continue;
    const auto found = there.find(name);
    if (found == there.end()) {
      throw UserError(
          "--resume: {} was begun by an older tacho, which does not tell its {}; predict into another folder",
          output.string(), name);
    }
    if (*found == value) continue;
    throw UserError("--resume: {} was begun with {} {}, not {}; predict into another folder", output.string(),
                    name, to_text(*found), to_text(value));
  }
}

std::string different_rounding(const std::filesystem::path& output, const Json& identity) {
  const Json before = read_identity(output).value(kRounding, Json::object());
  std::string differences;
  for (const auto& [name, value] : identity.at(kRounding).items()) {
    const Json was = before.is_object() ? before.value(name, Json()) : Json();
    if (was == value) continue;
    differences +=
        fmt::format("{}{} {}, not {}", differences.empty() ? "" : ", ", name, to_text(was), to_text(value));
  }
  return differences;
}

}  // namespace tacho
