#include "results/epoch.h"

#include <array>

#include "base/json_object.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using E = Epoch;

constexpr std::array kEpoch = {
    count_entry<E, &E::steps>("steps"),           entry<E, &E::seconds>("seconds"),
    entry<E, &E::wait_seconds>("wait_seconds"),   entry<E, &E::evaluation_seconds>("evaluation_seconds"),
    entry<E, &E::images_per_s>("images_per_s"),   entry<E, &E::loss>("loss"),
    entry<E, &E::learning_rate>("learning_rate"), entry<E, &E::train_accuracy>("train_accuracy"),
    entry<E, &E::train_loss>("train_loss"),       entry<E, &E::test_accuracy>("test_accuracy"),
    entry<E, &E::test_loss>("test_loss"),         entry<E, &E::constant_loss>("constant_loss"),
    entry<E, &E::boundary_f1>("boundary_f1"),
};

}  // namespace

void add_rate(Epoch& epoch, int64_t images_per_step) {
  if (epoch.seconds > 0)
    epoch.images_per_s = static_cast<double>(epoch.steps * images_per_step) / epoch.seconds;
}

Json json_of(const Epoch& epoch) { return object_of<E>(kEpoch, epoch); }
void read(const Json& json, Epoch& epoch) { read_object<E>(kEpoch, json, epoch); }

}  // namespace tacho
