#include "distributed/together.h"

#include <fmt/format.h>

#include <new>
#include <stdexcept>

#include "base/error.h"
#include "distributed/collectives.h"

namespace tacho {
namespace {

enum Kind { fine, user, memory, other };

struct Failure {
  Kind kind = fine;
  std::string text = {};
};

// What together() has thrown on all ranks.
template<typename Error>
struct Shared final : Error {
  using Error::Error;
};

Failure failure_of(const std::function<void()>& step) {
  try {
    step();
    return {};
  } catch (const UserError& error) {
    return {user, error.what()};
  } catch (const OutOfMemory& error) {
    return {memory, error.what()};
  } catch (const std::bad_alloc&) {
    return {memory, "the system refused memory"};
  } catch (const std::exception& error) {
    return {other, error.what()};
  }
}

}  // namespace

void together(Communicator& ranks, const std::function<void()>& step) {
  if (ranks.size() == 1) return step();
  const Failure own = failure_of(step);
  const double kind = own.kind;
  const std::vector<double> kinds = all_gather(ranks, std::span(&kind, 1));
  const std::vector<std::string> texts = all_gather(ranks, own.text);
  for (size_t rank = 0; rank < kinds.size(); ++rank) {
    const std::string text = rank == 0 ? texts[0] : fmt::format("rank {}: {}", rank, texts[rank]);
    switch (static_cast<Kind>(kinds[rank])) {
      case fine: break;
      case user: throw Shared<UserError>(text);
      case memory: throw Shared<OutOfMemory>(text);
      case other: throw Shared<std::runtime_error>(text);
    }
  }
}

void in_step(Communicator& ranks, const std::function<void()>& work) {
  if (ranks.size() == 1) return work();
  try {
    work();
  } catch (const Shared<UserError>&) {
    throw;
  } catch (const Shared<OutOfMemory>&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(error.what());
  }
}

}  // namespace tacho
