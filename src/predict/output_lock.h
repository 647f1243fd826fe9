#pragma once

#include <filesystem>

namespace tacho {

// Keeps other processes from writing the output in `folder`, which is made where it is not there. The system
// lets go of it when the process ends, however that happens.
class OutputLock {
 public:
  // Throws UserError where another process holds it. Some file systems have no locks: there it holds nothing.
  explicit OutputLock(const std::filesystem::path& folder);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace tacho
