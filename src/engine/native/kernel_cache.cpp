#include "engine/native/kernel_cache.h"

#include <fmt/format.h>

#include <dnnl.hpp>

#include <sstream>

#include "base/cpu.h"
#include "base/file.h"
#include "engine/native/layout.h"
#include "kernels/peak/peak.h"

namespace tacho::native {
namespace {

constexpr int kVersion = 12;  // of the kernels and how they are timed: what others measured says nothing here

// Everything but the work that decides which kernel is the fastest.
std::string machine_name() {
  const dnnl_version_t* library = dnnl_version();
  return fmt::format("{}\t{}, {}{}, oneDNN {}.{}.{}", kVersion, cpu_info().model,
                     to_string(widest_instruction_set()),
                     prefers_own_block() ? fmt::format(" by {}", own_block()) : "", library->major,
                     library->minor, library->patch);
}

std::string key_of(int threads, const std::string& work) { return fmt::format("{}\t{}", threads, work); }

}  // namespace

KernelCache::KernelCache(std::filesystem::path file, std::filesystem::path record)
    : file_(std::move(file)), record_(std::move(record)), machine_(machine_name()) {
  read(record_, true);
  read(file_, false);
}

void KernelCache::read(const std::filesystem::path& file, bool is_record) {
  std::istringstream lines(read_file_if_present(file));
  const std::string prefix = fmt::format("{}\t", machine_);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prefix)) continue;
    // threads, work, kernel, timings
    std::istringstream fields(line.substr(prefix.size()));
    std::string threads, work, kernel, timings;
    std::getline(fields, threads, '\t');
    std::getline(fields, work, '\t');
    std::getline(fields, kernel, '\t');
    if (!std::getline(fields, timings, '\t')) continue;
    // The first of several lines wins: a run that goes on must meet the kernels with which it began.
    if (const auto found = find_kernel(kernel))
      kernels_.try_emplace(fmt::format("{}\t{}", threads, work), Known{*found, timings, is_record});
  }
}

void KernelCache::write(const std::filesystem::path& file, const std::string& key) const {
  if (file.empty()) return;
  const Known& known = kernels_.at(key);
  append_if_possible(file,
                     fmt::format("{}\t{}\t{}\t{}\n", machine_, key, name_of(known.kernel), known.timings));
}

std::optional<ConvolutionKernel> KernelCache::find(int threads, const std::string& work) {
  const auto found = kernels_.find(key_of(threads, work));
  if (found == kernels_.end()) return std::nullopt;
  Known& known = found->second;
  if (!known.recorded) write(record_, found->first);
  known.recorded = true;
  return known.kernel;
}

void KernelCache::add(int threads, const std::string& work, ConvolutionKernel kernel,
                      const std::string& timings) {
  const std::string key = key_of(threads, work);
  kernels_[key] = {kernel, timings, true};
  write(file_, key);
  write(record_, key);
}

void KernelCache::remember(int threads, const std::string& work, ConvolutionKernel kernel) {
  const std::string key = key_of(threads, work);
  kernels_[key] = {kernel, "-", true};
  write(record_, key);
}

double KernelCache::peak_gflops(int threads) {
  const auto known = peak_gflops_.find(threads);
  if (known != peak_gflops_.end()) return known->second;
  return peak_gflops_[threads] = measure_fma_gflops(threads);
}

}  // namespace tacho::native
