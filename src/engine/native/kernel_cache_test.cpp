#include "engine/native/kernel_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/file.h"
#include "base/test_folder.h"

namespace tacho::native {
namespace {

class KernelCacheFile : public testing::Test {
 protected:
  TestFolder folder_;
  std::filesystem::path file_ = folder_.path() / "deep" / "kernels.tsv";
};

TEST_F(KernelCacheFile, TellsTheNextProgramWhatWasMeasured) {
  KernelCache(file_).add(2, "some work", ConvolutionKernel::winograd, "winograd 1 ms");
  KernelCache next(file_);
  EXPECT_EQ(next.find(2, "some work"), ConvolutionKernel::winograd);
  EXPECT_EQ(next.find(1, "some work"), std::nullopt);
  EXPECT_EQ(next.find(2, "other work"), std::nullopt);
}

// `text` with the first `from` in it replaced.
std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(KernelCacheFile, LeavesOutDamagedLinesAndThoseOfOtherMachines) {
  KernelCache(file_).add(2, "first", ConvolutionKernel::onednn, "-");
  const std::string line = read_file(file_);
  const std::string machine = line.substr(0, line.find("2\tfirst"));
  std::ofstream(file_, std::ios::app) << "rubbish\n\n"
                                      << machine << "2\tcut off\twinog\n"
                                      << machine << "2\tunknown\tmagic\t-\n"
                                      << with(machine, "\t", "\tOther ") << "2\tforeign\twinograd\t-\n"
                                      << "0" << machine << "2\told\twinograd\t-\n"
                                      << machine << "2\tlast\twinograd\t-\n";
  KernelCache cache(file_);
  EXPECT_EQ(cache.find(2, "first"), ConvolutionKernel::onednn);
  EXPECT_EQ(cache.find(2, "last"), ConvolutionKernel::winograd);
  for (const char* work : {"cut off", "unknown", "foreign", "old"})
    EXPECT_EQ(cache.find(2, work), std::nullopt);
}

TEST_F(KernelCacheFile, StaysWithWhatWasMeasuredFirst) {
  KernelCache first(file_), second(file_);
  first.add(2, "some work", ConvolutionKernel::winograd, "-");
  second.add(2, "some work", ConvolutionKernel::onednn, "-");
  EXPECT_EQ(KernelCache(file_).find(2, "some work"), ConvolutionKernel::winograd);
}

TEST_F(KernelCacheFile, ARecordHoldsWhateverTheCacheSays) {
  const std::filesystem::path record = folder_.path() / "record.tsv";
  KernelCache(record).add(2, "noted", ConvolutionKernel::direct, "-");
  KernelCache(file_).add(2, "noted", ConvolutionKernel::onednn, "-");
  EXPECT_EQ(KernelCache(file_, record).find(2, "noted"), ConvolutionKernel::direct);
}

TEST_F(KernelCacheFile, ARecordHoldsWhatWasAskedForAndNoMore) {
  const std::filesystem::path record = folder_.path() / "record.tsv";
  KernelCache(file_).add(2, "found", ConvolutionKernel::winograd, "winograd 1 ms");
  KernelCache(file_).add(2, "never asked for", ConvolutionKernel::winograd, "-");
  KernelCache cache(file_, record);
  cache.find(2, "found");
  cache.find(2, "found");
  cache.add(2, "measured", ConvolutionKernel::direct, "-");
  const std::string lines = read_file(record);
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2) << lines;
  KernelCache recorded(record);
  EXPECT_EQ(recorded.find(2, "found"), ConvolutionKernel::winograd);
  EXPECT_EQ(recorded.find(2, "measured"), ConvolutionKernel::direct);
  EXPECT_EQ(KernelCache(file_).find(2, "measured"), ConvolutionKernel::direct);
}

TEST_F(KernelCacheFile, DoesNotTellOthersWhatItOnlyRemembers) {
  KernelCache cache(file_);
  cache.remember(2, "some work", ConvolutionKernel::winograd);
  EXPECT_EQ(cache.find(2, "some work"), ConvolutionKernel::winograd);
  EXPECT_EQ(KernelCache(file_).find(2, "some work"), std::nullopt);
}

TEST_F(KernelCacheFile, NotesInTheRecordWhatItOnlyRemembers) {
  const std::filesystem::path record = folder_.path() / "record.tsv";
  KernelCache(file_, record).remember(2, "some work", ConvolutionKernel::winograd);
  EXPECT_EQ(KernelCache(file_, record).find(2, "some work"), ConvolutionKernel::winograd);
}

TEST_F(KernelCacheFile, MeasuresThePeakOnce) {
  KernelCache cache{{}};
  const double peak = cache.peak_gflops(1);
  EXPECT_GT(peak, 0);
  EXPECT_EQ(cache.peak_gflops(1), peak);
}

TEST_F(KernelCacheFile, RemembersWithoutAFile) {
  KernelCache cache{{}};
  cache.add(2, "some work", ConvolutionKernel::winograd, "-");
  EXPECT_EQ(cache.find(2, "some work"), ConvolutionKernel::winograd);
}

TEST_F(KernelCacheFile, DoesWithoutAFileThatCannotBeWritten) {
  KernelCache cache("/proc/no/such/kernels.tsv");
  cache.add(2, "some work", ConvolutionKernel::winograd, "-");
  EXPECT_EQ(cache.find(2, "some work"), ConvolutionKernel::winograd);
}

}  // namespace
}  // namespace tacho::native
