#include "volume/hdf5_handle.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace tacho {
namespace {

// Called from the innermost failure outwards: the first says most.
herr_t take_first(unsigned, const H5E_error2_t* error, void* text) {
  auto& reason = *static_cast<std::string*>(text);
  if (reason.empty() && error->desc != nullptr) reason = error->desc;
  return 0;
}

}  // namespace

QuietHdf5::QuietHdf5() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  // Where the system refused, its own words are enough.
  constexpr std::string_view before = "error message = '";
  if (const size_t at = reason.find(before); at != std::string::npos) {
    reason = reason.substr(at + before.size());
    reason = reason.substr(0, reason.find('\''));
  }
  std::ranges::replace(reason, '\n', ' ');
  return reason.empty() ? "HDF5 gives no reason" : std::string(trim(reason));
}

std::vector<hsize_t> extents_of(const Hdf5Handle& space) {
  const int rank = H5Sget_simple_extent_ndims(space.id());
  std::vector<hsize_t> extents(static_cast<size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  return extents;
}

}  // namespace tacho
