#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/driver.h"
#include "session/suites.h"

namespace tacho {

struct VolumeSuiteOptions {
  double scale = 1;
  std::optional<std::string> model, halo;
  std::optional<int64_t> iterations;
  std::optional<std::filesystem::path> folder;
};

// --model, --iterations, --halo and --folder.
void add_volume_suite_options(Command command, VolumeSuiteOptions& options);

// Throws UserError where one of them was given to another suite.
void refuse_volume_options(const VolumeSuiteOptions& options, std::string_view suite);

// `tacho suite volume`: a 3D U-Net learns from a made-up volume and predicts another.
void run_volume_suite(const VolumeSuiteOptions& options, const SuiteMachine& machine, const KeepOptions& keep,
                      CommandContext& context);

}  // namespace tacho
