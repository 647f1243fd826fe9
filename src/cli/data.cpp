#include <memory>

#include "cli/commands.h"
#include "data/cifar10.h"

namespace tacho {
namespace {

struct MakeOptions {
  std::filesystem::path folder;
  int64_t records = 1000;
  uint64_t seed = 0;
};

}  // namespace

void add_data_command(CLI::App& app, CommandContext&) {
  auto options = std::make_shared<MakeOptions>();
  CLI::App* command = app.add_subcommand("data", "Make data sets");
  command->require_subcommand(1);
  CLI::App* make = command->add_subcommand("make", "Write made-up data in the format of real data");
  make->require_subcommand(1);
  CLI::App* cifar10 =
      make->add_subcommand("cifar10", "Images of 10 classes that can be learnt, as CIFAR-10's files");
  cifar10->add_option("directory", options->folder, "Where the six files go")->required();
  cifar10->add_option("--records", options->records, "Images in each file; the real ones have 10000")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kCifarRecordsPerFile));
  cifar10->add_option("--seed", options->seed, "The same seed makes the same files")->capture_default_str();
  cifar10->callback([options] { make_cifar10(options->folder, options->records, options->seed); });
}

}  // namespace tacho
