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
  // An empty path keeps nothing. A file that cannot be read or written is as good as none. What the record
  // says holds whatever the file says; see CompileOptions::kernel_record.
  explicit KernelCache(std::filesystem::path file, std::filesystem::path record = {});

  // What it finds is noted in the record.
  std::optional<ConvolutionKernel> find(int threads, const std::string& work);
  void add(int threads, const std::string& work, ConvolutionKernel kernel, const std::string& timings);
  // In memory and in the record, where it was not measured well enough for other work.
  void remember(int threads, const std::string& work, ConvolutionKernel kernel);

  // Of the machine's multiply-adds, measured when it is first asked for.
  double peak_gflops(int threads);

 private:
  struct Known {
    ConvolutionKernel kernel;
    std::string timings;
    bool recorded;
  };

  void read(const std::filesystem::path& file, bool is_record);
  // Appends what is known of this work.
  void write(const std::filesystem::path& file, const std::string& key) const;

  std::filesystem::path file_, record_;
  std::string machine_;
  std::map<std::string, Known> kernels_;  // by threads and work
  std::map<int, double> peak_gflops_;     // by threads
};

}  // namespace tacho::native
