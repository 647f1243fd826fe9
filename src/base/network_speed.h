#pragma once

#include <string>
#include <string_view>

namespace tacho {

// What one device can send another.
struct NetworkSpeed {
  double bytes_per_s = 0;
  double latency_s = 0;  // of one message, however short
};

// BANDWIDTH,LATENCY: "10Gbit,25us", "800Mbit,0.1ms", "1.2GB/s,3us", "500MB/s,0us". Throws UserError that
// names `option`.
NetworkSpeed parse_network_speed(std::string_view option, std::string_view text);

// As parse_network_speed() reads it: "10Gbit,25us".
std::string to_string(const NetworkSpeed& speed);

}  // namespace tacho
