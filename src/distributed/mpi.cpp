#include "distributed/mpi.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "distributed/launch.h"

namespace tacho {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;  // of one message: MPI counts in int
constexpr int kTriesBeforeYield = 2000;
constexpr double kShortestNapMs = 0.05, kLongestNapMs = 1, kNapShare = 0.01;  // of the time waited so far
constexpr int kAbortSeconds = 5;

// Otherwise Open MPI sends a large message over TCP in one piece, behind which waits what would start that of
// the other direction.
void let_both_directions_flow() {
  setenv("OMPI_MCA_btl_tcp_flags", "send,inplace,need-ack,need-csum", 0);
  setenv("OMPI_MCA_btl_tcp_sndbuf", "131072", 0);
}

// MPI from its first use to its last.
class Session {
 public:
  Session() {
    let_both_directions_flow();
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
      throw UserError("several devices: {} lets only one thread communicate", mpi_version());
  }
  ~Session() { MPI_Finalize(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(std::shared_ptr<const Session> session, MPI_Comm ranks)
      : session_(std::move(session)), ranks_(ranks) {
    MPI_Comm_rank(ranks_, &rank_);
    MPI_Comm_size(ranks_, &size_);
  }
  ~MpiCommunicator() override {
    if (ranks_ != MPI_COMM_WORLD) MPI_Comm_free(&ranks_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from) override {
    while (!out.empty() || !in.empty()) {
      std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      const size_t received = std::min(in.size(), kMostBytes), sent = std::min(out.size(), kMostBytes);
      if (received > 0)
        MPI_Irecv(in.data(), static_cast<int>(received), MPI_BYTE, from, 0, ranks_, &requests[0]);
      if (sent > 0) MPI_Isend(out.data(), static_cast<int>(sent), MPI_BYTE, to, 0, ranks_, &requests[1]);
      wait(requests, MPI_STATUSES_IGNORE);
      in = in.subspan(received);
      out = out.subspan(sent);
    }
  }

  int receive_from_any(std::span<std::byte> in) override {
    std::array<MPI_Request, 1> request = {MPI_REQUEST_NULL};
    MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, MPI_ANY_SOURCE, 0, ranks_, request.data());
    std::array<MPI_Status, 1> status{};
    wait(request, status.data());
    return status[0].MPI_SOURCE;
  }

  std::unique_ptr<Communicator> first(int size) override {
    MPI_Comm ranks = MPI_COMM_NULL;
    MPI_Comm_split(ranks_, rank_ < size ? 0 : MPI_UNDEFINED, rank_, &ranks);
    return ranks == MPI_COMM_NULL ? nullptr : std::make_unique<MpiCommunicator>(session_, ranks);
  }

 private:
  // Nothing moves unless somebody asks MPI for it.
  void wait(std::span<MPI_Request> requests, MPI_Status* statuses) const {
    const double begin = now_ms();
    for (int tries = 0;; ++tries) {
      int done = 0;
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, statuses);
      if (done != 0) return;
      if (waiting() == Waiting::nap) {
        const double nap_ms = std::clamp(kNapShare * (now_ms() - begin), kShortestNapMs, kLongestNapMs);
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(nap_ms));
      } else if (tries > kTriesBeforeYield) {
        sched_yield();
      }
    }
  }

  std::shared_ptr<const Session> session_;
  MPI_Comm ranks_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  // "Open MPI v4.1.4, package: ...".
  std::string version(text.data(), static_cast<size_t>(length));
  version = version.substr(0, version.find_first_of(",\n"));
  const size_t v = version.find(" v");
  if (v != std::string::npos) version.erase(v + 1, 1);
  return version;
}

std::unique_ptr<Communicator> join_ranks() {
  return std::make_unique<MpiCommunicator>(std::make_shared<const Session>(), MPI_COMM_WORLD);
}

void end_all_ranks(int status) {
  end_own_launcher_after(kAbortSeconds);
  std::thread([status] { MPI_Abort(MPI_COMM_WORLD, status); }).detach();
  std::this_thread::sleep_for(std::chrono::seconds(kAbortSeconds));
  std::_Exit(status);
}

}  // namespace tacho
