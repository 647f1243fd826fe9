#include <array>

#include "base/json_object.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using S = SystemInfo;
using M = MachineSpeed;

// A count that is not known is zero.
template<auto member>
constexpr Entry<S> count(std::string_view name) {
  return {name, [](const S& system) { return system.*member == 0 ? Json() : Json(system.*member); },
          entry<S, member>(name).set};
}

constexpr std::array kSpeed = {
    entry<M, &M::threads>("threads"),
    entry<M, &M::fma_gflops>("fma_gflops"),
    entry<M, &M::bandwidth_gbs>("bandwidth_gbs"),
};

constexpr std::array kSystem = {
    entry<S, &S::name>("name"),
    entry<S, &S::machine_id>("machine_id"),
    entry<S, &S::cpu>("cpu"),
    count<&S::cores>("cores"),
    count<&S::sockets>("sockets"),
    count<&S::physical_cores>("physical_cores"),
    count<&S::logical_cpus>("logical_cpus"),
    count<&S::numa_nodes>("numa_nodes"),
    entry<S, &S::smt>("smt"),
    entry<S, &S::instruction_set>("instruction_set"),
    count<&S::l1d_bytes>("l1d_bytes"),
    count<&S::l2_bytes>("l2_bytes"),
    count<&S::l3_bytes>("l3_bytes"),
    entry<S, &S::governor>("governor"),
    count<&S::memory_mib>("memory_mib"),
    entry<S, &S::os>("os"),
    entry<S, &S::compiler>("compiler"),
    entry<S, &S::engines>("engines"),
    entry<S, &S::libraries>("libraries"),
    entry<S, &S::version>("version"),
    entry<S, &S::commit>("commit"),
    entry<S, &S::build_type>("build_type"),
    entry<S, &S::speeds>("speeds"),
    entry<S, &S::warnings>("warnings"),
};

}  // namespace

Json json_of(const MachineSpeed& speed) { return object_of<M>(kSpeed, speed); }
void read(const Json& json, MachineSpeed& speed) { read_object<M>(kSpeed, json, speed); }

Json json_of(const SystemInfo& system) { return object_of<S>(kSystem, system); }
void read(const Json& json, SystemInfo& system) { read_object<S>(kSystem, json, system); }

}  // namespace tacho
