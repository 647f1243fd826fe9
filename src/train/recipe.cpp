#include "train/recipe.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/json_object.h"
#include "graph/gradient.h"
#include "models/zoo.h"

namespace tacho {
namespace {

struct DescribeRule {
  std::string operator()(const Sgd& rule) const {
    return fmt::format("sgd, lr {}, momentum {}, weight decay {}", rule.learning_rate, rule.momentum,
                       rule.weight_decay);
  }
  std::string operator()(const Adam& rule) const {
    return fmt::format("adam, lr {}, weight decay {}", rule.learning_rate, rule.weight_decay);
  }
};

struct RuleFields {
  Json operator()(const Sgd& rule) const {
    return {{"optimizer", "sgd"},
            {"learning_rate", rule.learning_rate},
            {"momentum", rule.momentum},
            {"weight_decay", rule.weight_decay}};
  }
  Json operator()(const Adam& rule) const {
    return {
        {"optimizer", "adam"}, {"learning_rate", rule.learning_rate}, {"weight_decay", rule.weight_decay}};
  }
};

using R = Recipe;

// One that is only written: a recipe is never read back.
constexpr Entry<R> written(std::string_view name, Json (*get)(const R&)) { return {name, get, nullptr}; }
template<auto member>
constexpr Entry<R> written(std::string_view name) {
  return {name, [](const R& recipe) { return json_of(recipe.*member); }, nullptr};
}

constexpr std::array kEntries = {
    written<&R::model>("model"),
    written("mode", [](const R&) { return Json("train"); }),
    written<&R::batch>("batch"),
    written("image", [](const R& recipe) { return Json(to_string(recipe.image)); }),
    written<&R::classes>("classes"),
    written<&R::seed>("seed"),
    written("weights",
            [](const R& recipe) { return recipe.weights ? Json(recipe.weights->string()) : Json(); }),
    written("data", [](const R& recipe) { return Json(describe_data(recipe)); }),
    written("recipe", [](const R& recipe) { return Json(describe_method(recipe)); }),
    written<&R::subset>("subset"),
    written("planned_epochs", [](const R& recipe) { return recipe.steps ? Json() : Json(recipe.epochs); }),
    written<&R::steps>("planned_steps"),
    written("schedule", [](const R& recipe) { return Json(name_of(recipe.schedule)); }),
    written<&R::warmup_epochs>("warmup_epochs"),
    written<&R::label_smoothing>("label_smoothing"),
    written<&R::dropout>("dropout"),
    written<&R::augmentation>("augmentation"),
    written("targets",
            [](const R& recipe) { return recipe.held_out.empty() ? Json() : Json(name_of(recipe.targets)); }),
    written<&R::shuffle>("shuffle"),
};

void set_dropout(double probability, std::string_view model, Graph& graph) {
  bool any = false;
  for (Node& node : graph.nodes) {
    if (auto* dropout = std::get_if<Dropout>(&node.op)) {
      dropout->probability = probability;
      any = true;
    }
  }
  if (!any) throw UserError("--dropout: {} has no dropout layer", model);
}

}  // namespace

double scaled_rate(double rate, int64_t global_batch) {
  return rate * static_cast<double>(global_batch) / static_cast<double>(kRateBatch);
}

Sgd default_sgd(int64_t global_batch) {
  return {.learning_rate = scaled_rate(0.1, global_batch), .momentum = 0.9, .weight_decay = 5e-4};
}

Adam default_adam(int64_t global_batch) {
  return {.learning_rate = scaled_rate(8e-3, global_batch), .weight_decay = 0};
}

double learning_rate_of(const UpdateRule& rule) {
  return std::visit([](const auto& of) { return of.learning_rate; }, rule);
}

std::string describe_data(const Recipe& recipe) {
  if (!recipe.held_out.empty()) return fmt::format("{} ({})", recipe.data, recipe.held_out);
  return recipe.subset ? fmt::format("{} ({} images)", recipe.data, *recipe.subset) : recipe.data;
}

std::string describe_method(const Recipe& recipe) {
  std::string text =
      fmt::format("{}, {}", std::visit(DescribeRule{}, recipe.update), name_of(recipe.schedule));
  if (recipe.warmup_epochs > 0) text += fmt::format(", warm-up {} epochs", recipe.warmup_epochs);
  if (recipe.label_smoothing > 0) text += fmt::format(", label smoothing {}", recipe.label_smoothing);
  if (recipe.dropout) text += fmt::format(", dropout {}", *recipe.dropout);
  text += fmt::format(", augmentation {}", recipe.augmentation);
  if (!recipe.held_out.empty()) text += fmt::format(", targets {}", name_of(recipe.targets));
  if (!recipe.shuffle) text += ", not shuffled";
  if (!recipe.execution.kernel.empty()) text += fmt::format(", kernel {}", recipe.execution.kernel);
  return text;
}

Json fields_of(const Recipe& recipe) {
  Json fields = object_of<Recipe>(kEntries, recipe);
  fields.update(fields_of(recipe.execution, true));
  fields.update(std::visit(RuleFields{}, recipe.update));
  return fields;
}

// The same weights come out however little memory there is and convolutions are chosen, and whatever the
// method is called.
Json identity_of(const Recipe& recipe) {
  Json fields = fields_of(recipe);
  // What is not set is said too: otherwise it would be taken for what an older version did not know.
  for (const Entry<R>& entry : kEntries) fields.emplace(entry.name, nullptr);
  for (const char* name : {"kernel", "momentum"}) fields.emplace(name, nullptr);
  for (const char* name : {"autotune", "memory", "recipe", "mode"}) fields.erase(name);
  return parse_json(to_text(fields));  // as it comes back from a file: what is no UTF-8 is replaced
}

Graph build_network(const Recipe& recipe) {
  const Model& model = find_model(recipe.model);
  const int64_t classes = learns_volumes(model) ? 1 : recipe.classes;
  Graph graph = build_model(model, {.batch = recipe.batch, .image = recipe.image, .classes = classes});
  if (recipe.dropout) set_dropout(*recipe.dropout, model.name, graph);
  return graph;
}

TrainingGraphs build_graphs(const Recipe& recipe) {
  Graph network = build_network(recipe);
  Graph training = gradient(network, find_model(recipe.model).loss,
                            {.of_input = false, .label_smoothing = recipe.label_smoothing});
  return {std::move(network), std::move(training)};
}

int64_t total_steps(const Recipe& recipe, int64_t images) {
  if (recipe.steps) return *recipe.steps;
  const int64_t batch = global_batch(recipe);
  return (recipe.epochs * images + batch - 1) / batch;
}

}  // namespace tacho
