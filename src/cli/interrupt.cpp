#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace tacho {
namespace {

std::atomic<bool> interrupt_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void set_flag(int) { interrupt_flag = true; }

}  // namespace

void catch_interrupt() {
  struct sigaction action = {};
  action.sa_handler = set_flag;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return interrupt_flag; }

}  // namespace tacho
