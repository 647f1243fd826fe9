#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "volume/box.h"

namespace tacho {

// What is known of a block whose chunks are durable.
struct DoneBlock {
  int64_t bytes = 0;      // of its chunks' files
  uint32_t checksum = 0;  // of them, one after the other
  bool operator==(const DoneBlock&) const = default;
};

// Beside the output, in its folder `.tacho`: what is being predicted, and which blocks are done. A block is
// noted only after its chunks are durable, so whoever is killed loses at most the blocks under way.
class Journal {
 public:
  // `output` is the folder of the prediction; this rank's notes go to a file of its own.
  Journal(const std::filesystem::path& output, int rank);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Returns when the note is durable. Throws UserError where the system refuses.
  void note(int64_t block, const DoneBlock& done);

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

std::filesystem::path journal_folder(const std::filesystem::path& output);

// What all ranks have noted. A note that was cut off by a crash does not count.
std::map<int64_t, DoneBlock> read_journal(const std::filesystem::path& output);

// Whether there is anything that a prediction must not touch. Not what is left where one was killed before it
// said what it is.
bool is_begun(const std::filesystem::path& output);

// Of an identity: what another call may have otherwise. The blocks that it computes may be rounded otherwise.
inline constexpr const char* kRounding = "rounding";

// Says what is being predicted, before anything else is in `output`. Throws UserError where the system
// refuses.
void write_identity(const std::filesystem::path& output, const Json& identity);
// The block of the prediction that was begun there; nothing where none was.
std::optional<Point> block_of_identity(const std::filesystem::path& output);
// Throws UserError where no prediction was begun there.
void require_identity(const std::filesystem::path& output);
// The same, and where it was of another prediction: says in what it differs.
void check_identity(const std::filesystem::path& output, const Json& identity);
// In what its kRounding differs, in words; empty where in nothing.
std::string different_rounding(const std::filesystem::path& output, const Json& identity);

}  // namespace tacho
