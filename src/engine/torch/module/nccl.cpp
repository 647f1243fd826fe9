// Of a libtorch that has NCCL.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <torch/csrc/cuda/nccl.h>

#include <map>
#include <vector>

#include "engine/torch/module/nccl.h"
#include "engine/torch/module/translated.h"

namespace tacho::torch_engine {
namespace {

namespace nccl = torch::cuda::nccl;

// One for all exchanges between so many GPUs, of which the ranks always have the same ones: libtorch's
// comm_destroy() gives none back.
nccl::ncclComm_t communicator_of(int rank, int size, const FromFirst& from_first) {
  static std::map<int, nccl::ncclComm_t> known;
  const auto found = known.find(size);
  if (found != known.end()) return found->second;
  const std::string text = from_first([] {
    nccl::ncclUniqueId id;
    translated([&] { nccl::get_unique_id(id); });
    return std::string(id.internal, sizeof id.internal);
  });
  nccl::ncclUniqueId id;
  text.copy(id.internal, sizeof id.internal);
  return known[size] = nccl::comm_init_rank(size, id, rank);
}

// On a stream of its own, so that a backward pass goes on meanwhile.
class NcclExchange final : public DeviceExchange {
 public:
  NcclExchange(const at::Device& device, int size, nccl::ncclComm_t communicator)
      : device_(device),
        size_(size),
        communicator_(communicator),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.index())) {}

  std::string_view name() const override { return "NCCL"; }

  void start(std::span<float> gradients) override {
    translated([&] {
      computed_.record(c10::cuda::getCurrentCUDAStream(device_.index()));
      const c10::cuda::CUDAStreamGuard own_stream(stream_);
      computed_.block(stream_);
      if (started_ == way_.size()) way_.emplace_back();
      Way& way = way_[started_++];
      way.begin.record(stream_);
      std::vector<at::Tensor> values = {at::from_blob(
          gradients.data(), {static_cast<int64_t>(gradients.size())}, at::TensorOptions(device_))};
      nccl::all_reduce(values, values, static_cast<int32_t>(nccl::ncclRedOp::Sum), {stream_},
                       {communicator_});
      values[0].div_(size_);
      way.end.record(stream_);
    });
  }

  double finish() override {
    return translated([&] {
      stream_.synchronize();
      double ms = 0;
      for (; started_ > 0; --started_)
        ms += static_cast<double>(way_[started_ - 1].begin.elapsed_time(way_[started_ - 1].end));
      return ms;
    });
  }

 private:
  struct Way {
    at::cuda::CUDAEvent begin{cudaEventDefault}, end{cudaEventDefault};  // which tell times
  };

  at::Device device_;
  int size_;
  nccl::ncclComm_t communicator_;
  c10::cuda::CUDAStream stream_;
  at::cuda::CUDAEvent computed_;
  std::vector<Way> way_;  // of each that was started, kept for the next pass
  size_t started_ = 0;
};

}  // namespace

std::unique_ptr<DeviceExchange> join_gpus(const std::string& device, int rank, int size,
                                          const FromFirst& from_first) {
  return translated([&]() -> std::unique_ptr<DeviceExchange> {
    const at::Device own(device);
    const c10::cuda::CUDAGuard current(own);
    return std::make_unique<NcclExchange>(own, size, communicator_of(rank, size, from_first));
  });
}

std::string nccl_version() {
  const uint64_t version = nccl::version();
  return fmt::format("{}.{}.{}", version >> 32, version >> 16 & 0xffff, version & 0xffff);
}

}  // namespace tacho::torch_engine
