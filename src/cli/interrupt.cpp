#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace tacho {
namespace {

std::atomic<bool> interrupt_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void set_flag(int) { interrupt_flag = true; }

}  // namespace

void catch_interrupt(bool is_rank) {
  struct sigaction action = {};
  action.sa_handler = set_flag;
  action.sa_flags = SA_RESTART;
  if (is_rank) {
    for (const int signal : {SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
  }
  action.sa_flags |= static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return interrupt_flag; }

}  // namespace tacho
