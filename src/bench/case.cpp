#include "bench/case.h"

namespace tacho {

std::string_view name_of(Mode mode) { return mode == Mode::infer ? "infer" : "train"; }

}  // namespace tacho
