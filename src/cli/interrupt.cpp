#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace tacho {
namespace {

std::atomic<bool> interrupt_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void set_flag(int) { interrupt_flag = true; }

bool ignores_hang_up = false;

void look_at_hang_up(int, char**, char**) {
  struct sigaction action = {};
  sigaction(SIGHUP, nullptr, &action);
  ignores_hang_up = action.sa_handler == SIG_IGN;
}
// Before any library's own beginning.
[[gnu::section(".preinit_array"), gnu::used]] void (*const look_first)(int, char**, char**) = look_at_hang_up;

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

void keep_ignoring_hang_up() {
  if (ignores_hang_up) std::signal(SIGHUP, SIG_IGN);
}

bool interrupted() { return interrupt_flag; }

}  // namespace tacho
