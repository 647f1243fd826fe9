#include "train/state.h"

#include "base/error.h"
#include "base/json_values.h"
#include "results/record_json.h"

namespace tacho {
namespace {

// Earlier versions wrote null for what is not known.
Epoch epoch_from(const Json& json) {
  if (!json.is_object()) throw UserError("an epoch must be an object, not {}", to_text(json));
  Json known = Json::object();
  for (const auto& [name, value] : json.items()) {
    if (!value.is_null()) known[name] = value;
  }
  Epoch epoch;
  read(known, epoch);
  return epoch;
}

}  // namespace

std::string to_json_text(const TrainState& state) {
  Json epochs = Json::array();
  for (const Epoch& epoch : state.epochs) epochs.push_back(json_of(epoch));
  return to_text({{"recipe", state.recipe},
                  {"kernels", state.kernels},
                  {"step", state.step},
                  {"epochs", epochs},
                  {"current", json_of(state.current)}});
}

TrainState state_from_json_text(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    TrainState state = {.recipe = json.at("recipe"),
                        .kernels = json.at("kernels").get<std::string>(),
                        .step = json.at("step").get<int64_t>(),
                        .current = epoch_from(json.at("current"))};
    for (const Json& epoch : json.at("epochs")) state.epochs.push_back(epoch_from(epoch));
    return state;
  } catch (const Json::exception& error) {
    throw UserError("holds no state of a training run: {}", error.what());
  } catch (const UserError& error) {
    throw UserError("holds no state of a training run: {}", error.what());
  }
}

}  // namespace tacho
