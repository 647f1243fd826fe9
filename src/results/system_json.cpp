#include <array>

#include "base/json_object.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using S = SystemInfo;
using M = MachineSpeed;
using P = GpuSpeed;
using G = GpuInfo;
using E = EngineInfo;

constexpr std::array kSpeed = {
    entry<M, &M::threads>("threads"),
    entry<M, &M::fma_gflops>("fma_gflops"),
    entry<M, &M::bf16_gflops>("bf16_gflops"),
    entry<M, &M::bandwidth_gbs>("bandwidth_gbs"),
};

constexpr std::array kGpuSpeed = {
    entry<P, &P::device>("device"),
    entry<P, &P::devices>("devices"),
    entry<P, &P::precision>("precision"),
    entry<P, &P::product_rows>("product_rows"),
    entry<P, &P::product_gflops>("product_gflops"),
};

constexpr std::array kGpu = {
    entry<G, &G::name>("name"),
    entry<G, &G::driver>("driver"),
    entry<G, &G::memory_mib>("memory_mib"),
    entry<G, &G::clock_mhz>("clock_mhz"),
    entry<G, &G::power_limit_watts>("power_limit_watts"),
    entry<G, &G::bus_id>("bus_id"),
    entry<G, &G::clock_now_mhz>("clock_now_mhz"),
    entry<G, &G::power_watts>("power_watts"),
};

constexpr std::array kEngine = {
    entry<E, &E::name>("name"),
    entry<E, &E::instruction_set>("instruction_set"),
    count_entry<E, &E::threads>("threads"),
    entry<E, &E::precisions>("precisions"),
    entry<E, &E::missing>("missing"),
};

constexpr std::array kSystemEntries = {
    entry<S, &S::name>("name"),
    entry<S, &S::machine_id>("machine_id"),
    entry<S, &S::cpu>("cpu"),
    count_entry<S, &S::cores>("cores"),
    count_entry<S, &S::sockets>("sockets"),
    count_entry<S, &S::physical_cores>("physical_cores"),
    count_entry<S, &S::logical_cpus>("logical_cpus"),
    count_entry<S, &S::numa_nodes>("numa_nodes"),
    entry<S, &S::smt>("smt"),
    entry<S, &S::instruction_set>("instruction_set"),
    count_entry<S, &S::l1d_bytes>("l1d_bytes"),
    count_entry<S, &S::l2_bytes>("l2_bytes"),
    count_entry<S, &S::l3_bytes>("l3_bytes"),
    entry<S, &S::governor>("governor"),
    count_entry<S, &S::memory_mib>("memory_mib"),
    entry<S, &S::gpus>("gpus"),
    entry<S, &S::os>("os"),
    entry<S, &S::compiler>("compiler"),
    entry<S, &S::engines>("engines"),
    entry<S, &S::engine_details>("engine_details"),
    entry<S, &S::libraries>("libraries"),
    entry<S, &S::version>("version"),
    entry<S, &S::commit>("commit"),
    entry<S, &S::build_type>("build_type"),
    entry<S, &S::speeds>("speeds"),
    entry<S, &S::gpu_speeds>("gpu_speeds"),
    entry<S, &S::warnings>("warnings"),
};

}  // namespace

Json json_of(const MachineSpeed& speed) { return object_of<M>(kSpeed, speed); }
void read(const Json& json, MachineSpeed& speed) { read_object<M>(kSpeed, json, speed); }

Json json_of(const GpuSpeed& speed) { return object_of<P>(kGpuSpeed, speed); }
void read(const Json& json, GpuSpeed& speed) { read_object<P>(kGpuSpeed, json, speed); }

Json json_of(const GpuInfo& gpu) { return object_of<G>(kGpu, gpu); }
void read(const Json& json, GpuInfo& gpu) { read_object<G>(kGpu, json, gpu); }

Json json_of(const EngineInfo& engine) { return object_of<E>(kEngine, engine); }
void read(const Json& json, EngineInfo& engine) { read_object<E>(kEngine, json, engine); }

Json json_of(const SystemInfo& system) { return object_of<S>(kSystemEntries, system); }
void read(const Json& json, SystemInfo& system) { read_object<S>(kSystemEntries, json, system); }

}  // namespace tacho
