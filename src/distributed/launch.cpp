#include "distributed/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "distributed/caller.h"
#include "distributed/launcher_output.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotExecute = 127;

std::optional<int64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : parse_integer(text);
}

// Whether it is a pipe whose reader has not taken all yet.
bool is_unread(int descriptor) {
  struct stat file = {};
  int bytes = 0;
  return fstat(descriptor, &file) == 0 && S_ISFIFO(file.st_mode) &&
         ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
}

// Whether what this process prints goes through a launcher.
bool has_launchers_terminal() {
  const bool is_launched =
      std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMIX_RANK") != nullptr;
  const bool has_callers_terminal = std::getenv(kCallerVariable) != nullptr && is_first_launched();
  return is_launched && !has_callers_terminal;
}

std::atomic<int> caught_signals = 0;

void count_signal(int) { ++caught_signals; }

// The first asks the ranks to finish what they are at, the next one ends them.
class SignalsToRanks {
 public:
  SignalsToRanks() {
    struct sigaction action = {};
    action.sa_handler = count_signal;
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
    // By nohup: it outlives its terminal.
    if (before_[kHangUp].sa_handler == SIG_IGN) sigaction(SIGHUP, &before_[kHangUp], nullptr);
  }
  ~SignalsToRanks() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalsToRanks(const SignalsToRanks&) = delete;
  SignalsToRanks& operator=(const SignalsToRanks&) = delete;

  void forward(pid_t launcher) {
    const int caught = caught_signals;
    if (caught > forwarded_) kill(launcher, forwarded_ == 0 ? SIGUSR1 : SIGTERM);
    forwarded_ = caught;
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  static constexpr size_t kHangUp = 2;
  std::array<struct sigaction, kSignals.size()> before_{};
  int forwarded_ = 0;
};

std::vector<std::string> launcher_command(int ranks, std::span<const std::string> arguments) {
  // Threads are placed by us, and more ranks than cores are allowed: the results say so.
  std::vector<std::string> command = {"mpirun",
                                      "--oversubscribe",
                                      "--bind-to",
                                      "none",
                                      "-n",
                                      std::to_string(ranks),
                                      fs::read_symlink("/proc/self/exe").string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

[[noreturn]] void become_launcher(const std::vector<std::string>& command, const std::string& caller,
                                  int output) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setpgid(0, 0);  // Ctrl-C is for the caller alone, who forwards it
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  for (const auto& [name, value] :
       {std::pair{kCallerVariable, caller.c_str()}, std::pair{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
        std::pair{"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
        // One machine needs no network, also where a batch system has given us others.
        std::pair{"OMPI_MCA_pml", "ob1"}, std::pair{"OMPI_MCA_btl", "self,vader"},
        std::pair{"OMPI_MCA_ras", "^slurm,gridengine,tm,lsf"},
        std::pair{"PRTE_MCA_ras", "^slurm,gridengine,pbs,lsf"}}) {  // of Open MPI 5
    setenv(name, value, 1);
  }
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(kCannotExecute);
}

// The launcher at work, until it ends.
class Launcher {
 public:
  explicit Launcher(const std::vector<std::string>& command) {
    std::array<int, 2> pipe_ends{};
    if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) throw UserError("no pipe: {}", std::strerror(errno));
    process_ = fork();
    if (process_ == 0) become_launcher(command, caller_.path(), pipe_ends[1]);
    close(pipe_ends[1]);
    output_ = pipe_ends[0];
    if (process_ > 0) return;
    const int error = errno;
    close(output_);
    throw UserError("mpirun cannot be started: {}", std::strerror(error));
  }
  ~Launcher() { close(output_); }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Its status as a shell gives it.
  int wait() {
    SignalsToRanks signals;
    while (read_output()) signals.forward(process_);
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) signals.forward(process_);
    last_word_ = caller_.last_word();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const std::string& output() const { return text_; }
  bool began() const { return caller_.was_fetched(); }
  const std::string& last_word() const { return last_word_; }

 private:
  // Until the launcher and all ranks have closed it.
  bool read_output() {
    std::array<pollfd, 2> entries = {pollfd{output_, POLLIN, 0},
                                     pollfd{caller_.was_fetched() ? -1 : caller_.descriptor(), POLLIN, 0}};
    if (poll(entries.data(), entries.size(), kPollMs) <= 0) return true;
    if (entries[1].revents != 0) caller_.hand_over();
    if (entries[0].revents == 0) return true;
    std::array<char, 4096> bytes{};
    const ssize_t count = read(output_, bytes.data(), bytes.size());
    if (count > 0) text_.append(bytes.data(), static_cast<size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
  }

  static constexpr int kPollMs = 100;
  CallerSocket caller_;
  pid_t process_ = -1;
  int output_ = -1;
  std::string text_, last_word_;
};

}  // namespace

int launched_ranks() {
  if (const auto ranks = number_in("OMPI_COMM_WORLD_SIZE")) return static_cast<int>(*ranks);
  const int64_t tasks = number_in("SLURM_STEP_NUM_TASKS").value_or(0);
  if (std::getenv("PMIX_RANK") != nullptr) return static_cast<int>(std::max<int64_t>(tasks, 1));
  const bool in_step = number_in("SLURM_PROCID").has_value() && tasks > 1;
  if (in_step)
    throw UserError("srun started {} processes that do not know each other: use srun --mpi=pmix", tasks);
  return 0;
}

bool is_first_launched() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const auto rank = number_in(variable)) return *rank == 0;
  }
  return true;
}

void let_words_pass() {
  if (!has_launchers_terminal()) return;
  constexpr int kMostWaits = 20;
  constexpr std::chrono::milliseconds kToBePassedOn(500);
  std::fflush(nullptr);
  for (int waits = 0; waits < kMostWaits && (is_unread(STDOUT_FILENO) || is_unread(STDERR_FILENO)); ++waits)
    std::this_thread::sleep_for(kToBePassedOn);
  std::this_thread::sleep_for(is_first_launched() ? kToBePassedOn : 2 * kToBePassedOn);
}

void end_own_launcher_after(int seconds) {
  const pid_t launcher = getppid();
  const std::string name(trim(read_file_if_present(fmt::format("/proc/{}/comm", launcher))));
  constexpr std::array kNames = {"mpirun", "orterun", "prterun"};  // prterun: of Open MPI 5
  if (std::ranges::find(kNames, name) == kNames.end() || fork() != 0) return;
  // A process that the launcher does not know, with nothing of ours that others wait for.
  setsid();
  close_range(0, ~0U, 0);
  sleep(static_cast<unsigned>(seconds));
  kill(launcher, SIGKILL);
  _exit(0);
}

LaunchEnd start_local_ranks(int ranks, std::span<const std::string> arguments,
                            const std::string& after_loss) {
  Launcher launcher(launcher_command(ranks, arguments));
  const int status = launcher.wait();
  if (status == kCannotExecute && !launcher.began())
    throw UserError("--devices: mpirun, which starts several devices, is not installed; install openmpi-bin");
  // Before a rank listens to the first signal that asks it to finish, that one ends it.
  if (was_ended_by(SIGUSR1, launcher.output())) return {.status = status, .interrupted = true};
  LaunchEnd end = {.status = status, .words = own_lines(launcher.output())};
  // Others speak only where rank 0 cannot.
  if (end.words.empty() && !launcher.last_word().empty()) end.words = {launcher.last_word()};
  const std::string loss = loss_in(launcher.output());
  if (end.words.empty() && !loss.empty()) end.words = {fmt::format("tacho: {}; {}", loss, after_loss)};
  if (end.words.empty() && status != 0 && !launcher.began())
    throw UserError("--devices: mpirun could not start {} ranks: {}", ranks, trim(launcher.output()));
  if (!end.words.empty()) end.status = kLostStatus;
  return end;
}

}  // namespace tacho
