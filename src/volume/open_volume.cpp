#include <filesystem>

#include "base/error.h"
#include "volume/hdf5_volume.h"
#include "volume/volume.h"
#include "volume/zarr_volume.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

struct Place {
  fs::path file;
  std::string inside;
};

// A colon may belong to the name of a file that exists.
Place parse_place(std::string_view specification) {
  std::error_code error;
  const size_t colon = specification.rfind(':');
  if (colon == std::string_view::npos || fs::exists(specification, error)) return {specification, ""};
  return {specification.substr(0, colon), std::string(specification.substr(colon + 1))};
}

}  // namespace

std::unique_ptr<Volume> open_volume(std::string_view specification) {
  const Place place = parse_place(specification);
  std::error_code error;
  const fs::file_status status = fs::status(place.file, error);
  if (!fs::exists(status)) {
    throw UserError("{}: there is no such file; a volume is F.h5:/path or DIR.zarr:/path",
                    place.file.empty() ? "''" : place.file.string());
  }
  if (fs::is_directory(status)) return open_zarr(place.file, place.inside);
  return open_hdf5(place.file, place.inside.empty() ? kCremiRaw : place.inside);
}

}  // namespace tacho
