#include "train/recipe.h"

#include <fmt/format.h>

#include "base/error.h"
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
  return recipe.subset ? fmt::format("{} ({} images)", recipe.data, *recipe.subset) : recipe.data;
}

std::string describe_method(const Recipe& recipe) {
  std::string text =
      fmt::format("{}, {}", std::visit(DescribeRule{}, recipe.update), name_of(recipe.schedule));
  if (recipe.warmup_epochs > 0) text += fmt::format(", warm-up {} epochs", recipe.warmup_epochs);
  if (recipe.label_smoothing > 0) text += fmt::format(", label smoothing {}", recipe.label_smoothing);
  if (recipe.dropout) text += fmt::format(", dropout {}", *recipe.dropout);
  text += fmt::format(", augmentation {}", recipe.augmentation);
  if (!recipe.shuffle) text += ", not shuffled";
  if (!recipe.kernel.empty()) text += fmt::format(", kernel {}", recipe.kernel);
  return text;
}

std::string describe(const Recipe& recipe) {
  return fmt::format(
      "{} on {}, engine {}, {} threads, {} devices, batch {}, image {}, {} classes, {}, {}, seed {}, "
      "weights {}",
      recipe.model, describe_data(recipe), recipe.engine, recipe.threads, recipe.devices, recipe.batch,
      to_string(recipe.image), recipe.classes,
      recipe.steps ? fmt::format("{} steps", *recipe.steps) : fmt::format("{} epochs", recipe.epochs),
      describe_method(recipe), recipe.seed,
      recipe.weights ? recipe.weights->string() : "random, silent branches");
}

Graph build_network(const Recipe& recipe) {
  const Model& model = find_model(recipe.model);
  if (model.loss != Loss::softmax_cross_entropy) {
    throw UserError("tacho train: {} is trained on volumes, not on images with labels; choose a classifier",
                    model.name);
  }
  Graph graph = build_model(model, {.batch = recipe.batch, .image = recipe.image, .classes = recipe.classes});
  if (recipe.dropout) set_dropout(*recipe.dropout, model.name, graph);
  return graph;
}

Graph build_training(const Recipe& recipe) {
  return gradient(build_network(recipe), Loss::softmax_cross_entropy,
                  {.of_input = false, .label_smoothing = recipe.label_smoothing});
}

int64_t total_steps(const Recipe& recipe, int64_t images) {
  if (recipe.steps) return *recipe.steps;
  const int64_t batch = global_batch(recipe);
  return (recipe.epochs * images + batch - 1) / batch;
}

CompileOptions compile_options(const Recipe& recipe, const std::filesystem::path& kernel_cache) {
  return {.threads = recipe.threads,
          .seed = recipe.seed,
          .update = recipe.update,
          .low_memory = recipe.low_memory,
          .kernel = recipe.kernel,
          .kernel_cache = kernel_cache};
}

}  // namespace tacho
