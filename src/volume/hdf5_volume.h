#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "volume/volume.h"

namespace tacho {

// Where CREMI's files keep the image and the neurons' numbers.
inline constexpr const char* kCremiRaw = "/volumes/raw";
inline constexpr const char* kCremiNeuronIds = "/volumes/labels/neuron_ids";

// A dataset of rank 3. Throws UserError also where this build has no HDF5.
std::unique_ptr<Volume> open_hdf5(const std::filesystem::path& file, const std::string& dataset);

}  // namespace tacho
