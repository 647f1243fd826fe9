#include "results/device_times.h"

#include <array>

#include "base/json_object.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using T = RankTimes;
using B = GradientBucket;

constexpr std::array kRankTimes = {
    entry<T, &T::rank>("rank"),
    entry<T, &T::host>("host"),
    entry<T, &T::scatter_ms>("scatter_ms"),
    entry<T, &T::forward_ms>("forward_ms"),
    entry<T, &T::backward_ms>("backward_ms"),
    entry<T, &T::allreduce_ms>("allreduce_ms"),
    entry<T, &T::exposed_allreduce_ms>("exposed_allreduce_ms"),
    entry<T, &T::wait_ms>("wait_ms"),
    entry<T, &T::update_ms>("update_ms"),
    entry<T, &T::gather_ms>("gather_ms"),
};

constexpr std::array kBucket = {
    entry<B, &B::bytes>("bytes"),
    entry<B, &B::ready_ms>("ready_ms"),
};

}  // namespace

Json json_of(const RankTimes& times) { return object_of<T>(kRankTimes, times); }
void read(const Json& json, RankTimes& times) { read_object<T>(kRankTimes, json, times); }

Json json_of(const GradientBucket& bucket) { return object_of<B>(kBucket, bucket); }
void read(const Json& json, GradientBucket& bucket) { read_object<B>(kBucket, json, bucket); }

}  // namespace tacho
