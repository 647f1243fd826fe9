// Takes the place of libtorch's engine in a whole program: TACHO_FAKE_GPUS of them on each machine, for which
// the native engine computes. With TACHO_FAKE_EXCHANGE they exchange gradients themselves.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "engine/native/native_engine.h"
#include "engine/torch/torch_engine.h"

namespace tacho {
namespace {

// By a file that the processes map: each shows what it has, and when all do, each adds all up.
class MappedExchange final : public DeviceExchange {
 public:
  MappedExchange(const std::string& path, int rank, int size) : rank_(rank), size_(size) {
    const int file = open(path.c_str(), O_RDWR);
    const size_t bytes =
        sizeof(std::atomic<int64_t>) + static_cast<size_t>(size) * kMostFloats * sizeof(float);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) throw std::runtime_error(path);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) throw std::runtime_error(path);
    arrivals_ = static_cast<std::atomic<int64_t>*>(memory);
    floats_ = reinterpret_cast<float*>(arrivals_ + 1);
    wait_for_all();
    unlink(path.c_str());
  }

  std::string_view name() const override { return "a mapped file"; }

  void start(std::span<float> gradients) override {
    std::ranges::copy(gradients, of(rank_));
    wait_for_all();
    std::ranges::fill(gradients, 0.0f);
    for (int rank = 0; rank < size_; ++rank) {
      for (size_t i = 0; i < gradients.size(); ++i) gradients[i] += of(rank)[i];
    }
    for (float& value : gradients) value /= static_cast<float>(size_);
    wait_for_all();
  }

  double finish() override { return 1; }

 private:
  static constexpr size_t kMostFloats = size_t{1} << 23;

  float* of(int rank) { return floats_ + static_cast<size_t>(rank) * kMostFloats; }
  void wait_for_all() {
    ++*arrivals_;
    awaited_ += size_;
    while (*arrivals_ < awaited_) std::this_thread::yield();
  }

  int rank_, size_;
  std::atomic<int64_t>* arrivals_ = nullptr;  // of all ranks, at every place where they wait for each other
  float* floats_ = nullptr;
  int64_t awaited_ = 0;
};

class FakeGpus final : public Engine {
 public:
  std::string_view name() const override { return kTorch; }
  std::string version() const override { return "0"; }
  std::vector<std::string> devices() const override {
    std::vector<std::string> names = {"cpu"};
    const char* const count = std::getenv("TACHO_FAKE_GPUS");
    for (int i = 0; count != nullptr && i < std::atoi(count); ++i) names.push_back(fmt::format("cuda:{}", i));
    return names;
  }
  std::vector<std::string> precisions(const std::string&) const override { return {"f32", "bf16"}; }
  std::optional<double> measure_product_gflops(const std::string&, const std::string& precision,
                                               int64_t) const override {
    return precision == "f32" ? 1000 : 4000;
  }
  std::unique_ptr<DeviceExchange> join_devices(const std::string& device, int rank, int size,
                                               const FromFirst& from_first) const override {
    if (device == kCpu || std::getenv("TACHO_FAKE_EXCHANGE") == nullptr) return nullptr;
    const std::string path = from_first([] {
      std::string name = "/tmp/tacho-fake-exchange-XXXXXX";
      close(mkstemp(name.data()));
      return name;
    });
    return std::make_unique<MappedExchange>(path, rank, size);
  }
  int64_t estimate_memory_bytes(const Graph& graph, const CompileOptions& options) const override {
    return native_engine().estimate_memory_bytes(graph, on_cpu(options));
  }
  void choose_kernels(const Graph& graph, const CompileOptions& options) const override {
    native_engine().choose_kernels(graph, on_cpu(options));
  }
  std::unique_ptr<Plan> compile(const Graph& graph, Weights weights,
                                const CompileOptions& options) const override {
    return native_engine().compile(graph, std::move(weights), on_cpu(options));
  }

 private:
  static CompileOptions on_cpu(CompileOptions options) {
    options.device = kCpu;
    options.precision = kSinglePrecision;
    return options;
  }
};

}  // namespace

const Engine* torch_engine() {
  static const FakeGpus engine;
  return &engine;
}

}  // namespace tacho
