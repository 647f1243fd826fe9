#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tacho {

// The largest resident size of the process in each phase of a run. Where the system cannot forget its own
// peak, it is that of the samples alone.
class PhaseMemory {
 public:
  // From now on this phase; one that comes again keeps its largest.
  void enter(const std::string& phase);
  // Looks at the present size. Also done by enter() and peaks().
  void sample();
  // By phase, in bytes.
  const std::map<std::string, int64_t>& peaks();

 private:
  std::string phase_;
  bool system_forgets_ = false;
  std::map<std::string, int64_t> peaks_;
};

}  // namespace tacho
