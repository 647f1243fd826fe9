#include "train/state.h"

#include "base/error.h"

namespace tacho {
namespace {

Json to_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::optional<double> number(const Json& json, const char* name) {
  return json.at(name).is_null() ? std::nullopt : std::optional(json.at(name).get<double>());
}

Json to_json(const TrainedEpoch& epoch) {
  return {{"steps", epoch.steps},
          {"seconds", epoch.seconds},
          {"wait_seconds", epoch.wait_seconds},
          {"evaluation_seconds", epoch.evaluation_seconds},
          {"loss", epoch.loss},
          {"learning_rate", epoch.learning_rate},
          {"train_accuracy", to_json(epoch.train_accuracy)},
          {"train_loss", to_json(epoch.train_loss)},
          {"test_accuracy", to_json(epoch.test_accuracy)},
          {"test_loss", to_json(epoch.test_loss)}};
}

TrainedEpoch epoch_from(const Json& json) {
  return {.steps = json.at("steps").get<int64_t>(),
          .seconds = json.at("seconds").get<double>(),
          .wait_seconds = json.at("wait_seconds").get<double>(),
          .evaluation_seconds = json.at("evaluation_seconds").get<double>(),
          .loss = json.at("loss").get<double>(),
          .learning_rate = json.at("learning_rate").get<double>(),
          .train_accuracy = number(json, "train_accuracy"),
          .train_loss = number(json, "train_loss"),
          .test_accuracy = number(json, "test_accuracy"),
          .test_loss = number(json, "test_loss")};
}

}  // namespace

std::string to_json_text(const TrainState& state) {
  Json epochs = Json::array();
  for (const TrainedEpoch& epoch : state.epochs) epochs.push_back(to_json(epoch));
  return to_text({{"recipe", state.recipe},
                  {"kernels", state.kernels},
                  {"step", state.step},
                  {"epochs", epochs},
                  {"current", to_json(state.current)}});
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
  }
}

}  // namespace tacho
