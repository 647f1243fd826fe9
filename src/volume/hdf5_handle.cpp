#include "volume/hdf5_handle.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace tacho {
namespace {

// Called from the innermost failure outwards: the first says most, but for a filter, after which HDF5 looked
// in vain.
herr_t take_reason(unsigned, const H5E_error2_t* error, void* text) {
  auto& reason = *static_cast<std::string*>(text);
  const std::string_view description = error->desc == nullptr ? "" : error->desc;
  if (reason.empty() || description.starts_with("required filter")) reason = description;
  return 0;
}

}  // namespace

QuietHdf5::QuietHdf5() {
  // Every handle is given back. At the end of the program HDF5 would complain of what a damaged file made it
  // lose.
  static const bool no_work_at_exit = H5dont_atexit() >= 0;
  static_cast<void>(no_work_at_exit);
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason);
  // Where the system refused, its own words are enough.
  constexpr std::string_view before = "error message = '";
  if (const size_t at = reason.find(before); at != std::string::npos) {
    reason = reason.substr(at + before.size());
    reason = reason.substr(0, reason.find('\''));
  }
  std::ranges::replace(reason, '\n', ' ');
  return reason.empty() ? "HDF5 gives no reason" : std::string(trim(reason));
}

std::array<hsize_t, 3> hdf5_extents(const Point& point) {
  return {static_cast<hsize_t>(point[0]), static_cast<hsize_t>(point[1]), static_cast<hsize_t>(point[2])};
}

std::vector<hsize_t> extents_of(const Hdf5Handle& space) {
  const int rank = H5Sget_simple_extent_ndims(space.id());
  std::vector<hsize_t> extents(static_cast<size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  return extents;
}

}  // namespace tacho
