#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tacho::torch_engine {

// As Engine's: the best of several products, each of which is waited for.
std::optional<double> measure_product_gflops(const std::string& device, const std::string& precision,
                                             int64_t rows);

}  // namespace tacho::torch_engine
