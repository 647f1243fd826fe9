#include "base/error.h"
#include "volume/hdf5_volume.h"
#include "volume/make_cremi.h"

namespace tacho {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file) {
  throw UserError("{}: this build has no HDF5; install libhdf5-dev and build again", file.string());
}

}  // namespace

std::unique_ptr<Volume> open_hdf5(const std::filesystem::path& file, const std::string&) { refuse(file); }

bool make_cremi(const std::filesystem::path& file, const Point&, uint64_t, const MakeProgress&) {
  refuse(file);
}

}  // namespace tacho
