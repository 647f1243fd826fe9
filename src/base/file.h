#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tacho {

// The whole file. Throws UserError where it is missing, unreadable or a directory.
std::string read_file(const std::filesystem::path& path);

// The same, but empty where there is nothing to read: for what a system may or may not say about itself.
std::string read_file_if_present(const std::filesystem::path& path);
std::optional<int64_t> read_integer_if_present(const std::filesystem::path& path);

// Takes the next bytes of a file that is being written.
using ByteSink = std::function<void(std::span<const std::byte>)>;

// Whoever opens `path` meanwhile or after a crash finds the old content or the new, never a part: the bytes
// go to a temporary file beside it, which then takes its name, and are on the disk on return. An existing
// file keeps its permissions, and a symbolic link its target. Throws UserError where the system refuses;
// then, as after an exception of `writer`, nothing is left behind.
void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(const ByteSink&)>& writer);
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// In one call, so that lines of several programs do not mix. Nothing happens where the system refuses: for
// what a program may forget.
void append_if_possible(const std::filesystem::path& path, std::string_view lines);

// Removes what writers that were killed have left in the folder and below it. Nobody may write there
// meanwhile.
void remove_temporary_files(const std::filesystem::path& folder);

// Makes the folder and those above it that are missing, so that they too are there after a crash. Throws
// UserError where the system refuses. Several threads may make the same.
void make_folders(const std::filesystem::path& folder);

}  // namespace tacho
