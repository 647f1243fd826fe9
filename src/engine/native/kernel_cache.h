#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "engine/native/convolution_kernel.h"

namespace tacho::native {

// The kernels that were measured to be the fastest, by CPU model, threads and work, in memory and in a file:
// one line each, appended as a whole, so that a crash loses at most the last one and programs may share it.
// Lines that do not say what they should are left out, and so are those of another version of the kernels.
class KernelCache {
 public:
  // An empty path keeps nothing. A file that cannot be read or written is as good as none.
  explicit KernelCache(std::filesystem::path file);

  std::optional<ConvolutionKernel> find(int threads, const std::string& work) const;
  void add(int threads, const std::string& work, ConvolutionKernel kernel, const std::string& timings);
  // In memory alone, where it was not measured well enough for another program.
  void remember(int threads, const std::string& work, ConvolutionKernel kernel);

  // Of the machine's multiply-adds, measured when it is first asked for.
  double peak_gflops(int threads);

 private:
  std::filesystem::path file_;
  std::string machine_;
  std::map<std::string, ConvolutionKernel> kernels_;
  std::map<int, double> peak_gflops_;  // by threads
};

}  // namespace tacho::native
