#include "models/zoo.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/json_values.h"
#include "base/text.h"
#include "cli/axis_options.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "graph/cost.h"
#include "graph/print.h"
#include "report/grid.h"
#include "results/format.h"

namespace tacho {
namespace {

struct ModelsOptions {
  std::string name;
  OutputOptions output;
};

struct Row {
  std::string name, family, input;
  int64_t parameters;
  double gflop;  // forward, one image
};

Row row_of(const Model& model) {
  const Graph graph = build_model(model, {});
  const Shape& input = graph.shape(graph.inputs[0]);
  return {.name = std::string(model.name),
          .family = std::string(model.family),
          .input = to_string(Shape(input.begin() + 1, input.end())),
          .parameters = parameter_count(graph),
          .gflop = static_cast<double>(cost_of(graph).flop) / 1e9};
}

Grid grid_of(const std::vector<Row>& rows) {
  Grid grid = {.columns = {{"model"}, {"family"}, {"parameters", true}, {"GFLOP", true}, {"input", true}},
               .rows = {}};
  for (const Row& row : rows) {
    grid.rows.push_back({row.name, row.family, format_thousands(row.parameters),
                         format_significant(row.gflop, 3), row.input});
  }
  return grid;
}

Json json_of(const std::vector<Row>& rows) {
  Json array = Json::array();
  for (const Row& row : rows) {
    array.push_back({{"model", row.name},
                     {"family", row.family},
                     {"parameters", row.parameters},
                     {"gflop", row.gflop},
                     {"input", row.input}});
  }
  return array;
}

std::string zoo_text(const Layout& layout) {
  std::vector<Row> rows;
  for (const Model& model : models()) rows.push_back(row_of(model));
  switch (layout.format) {
    case Format::table:
    case Format::md: return render(grid_of(rows), layout);
    case Format::json: return to_text(json_of(rows), 2) + "\n";
    default: throw UserError("--format: 'tacho models' prints table, md or json");
  }
}

std::string layers_text(const Model& model, const ModelsOptions& options) {
  if (!options.output.format.empty())
    throw UserError("--format: the layers of a network are printed as text only");
  return to_string(build_model(model, {}));
}

}  // namespace

void add_models_command(Command app, CommandContext&) {
  auto options = std::make_shared<ModelsOptions>();
  Command command = app.subcommand("models", "List the networks: parameters, forward GFLOP an image, input");
  command.option("name", options->name, "Print the layers of this one").suggest(model_names());
  add_output_options(command, options->output, "table, md or json");
  command.on_run([options] {
    const Layout layout = chosen_layout(options->output);
    check_output(options->output);
    write_output(options->output,
                 options->name.empty() ? zoo_text(layout) : layers_text(find_model(options->name), *options));
  });
}

}  // namespace tacho
