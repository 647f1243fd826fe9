#include "train/state.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tacho {
namespace {

using Json = nlohmann::ordered_json;

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

double TrainState::seconds() const {
  double sum = current.seconds;
  for (const TrainedEpoch& epoch : epochs) sum += epoch.seconds;
  return sum;
}

double TrainState::evaluation_seconds() const {
  double sum = current.evaluation_seconds;
  for (const TrainedEpoch& epoch : epochs) sum += epoch.evaluation_seconds;
  return sum;
}

std::string to_json_text(const TrainState& state, const std::string& recipe) {
  Json epochs = Json::array();
  for (const TrainedEpoch& epoch : state.epochs) epochs.push_back(to_json(epoch));
  return Json{{"recipe", recipe},
              {"step", state.step},
              {"epochs", epochs},
              {"current", to_json(state.current)},
              {"seconds_to_target", to_json(state.seconds_to_target)}}
      .dump();
}

TrainState state_from_json_text(const std::string& text, std::string& recipe) {
  try {
    const Json json = Json::parse(text);
    recipe = json.at("recipe").get<std::string>();
    TrainState state = {.step = json.at("step").get<int64_t>(),
                        .current = epoch_from(json.at("current")),
                        .seconds_to_target = number(json, "seconds_to_target")};
    for (const Json& epoch : json.at("epochs")) state.epochs.push_back(epoch_from(epoch));
    return state;
  } catch (const Json::exception& error) {
    throw UserError("holds no state of a training run: {}", error.what());
  }
}

}  // namespace tacho
