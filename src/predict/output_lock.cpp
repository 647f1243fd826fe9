#include "predict/output_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file.h"
#include "predict/journal.h"

namespace tacho {

OutputLock::OutputLock(const std::filesystem::path& folder) {
  make_folders(journal_folder(folder));
  file_ = open((journal_folder(folder) / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  // Where this file cannot be opened none of the others can be written, and what is finished may be checked.
  if (file_ < 0 || flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(file_);
  throw UserError("--output {}: another tacho writes it now", folder.string());
}

OutputLock::~OutputLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace tacho
