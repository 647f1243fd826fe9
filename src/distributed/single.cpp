#include <cassert>

#include "distributed/communicator.h"
#include "distributed/group.h"

namespace tacho {
namespace {

class Alone final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void exchange(std::span<const std::byte>, int, std::span<std::byte>, int) override {
    assert(false && "there is nobody to talk to");
  }
  int receive_from_any(std::span<std::byte>) override {
    assert(false && "there is nobody to talk to");
    return 0;
  }
  std::unique_ptr<Communicator> first(int) override { return alone(); }
};

class SingleGroup final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void take(std::span<float>) override {}
  void finish_exchange() override {}
  ExchangeTimes last_exchange() const override { return {}; }
  std::string_view way() const override { return {}; }
  bool reaches_devices() const override { return true; }
};

}  // namespace

std::unique_ptr<Communicator> alone() { return std::make_unique<Alone>(); }

std::unique_ptr<Group> single_group() { return std::make_unique<SingleGroup>(); }

}  // namespace tacho
