#include "distributed/group.h"

namespace tacho {
namespace {

class SingleGroup final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void take(std::span<float>) override {}
  void finish_exchange() override {}
};

}  // namespace

std::unique_ptr<Group> single_group() { return std::make_unique<SingleGroup>(); }

}  // namespace tacho
