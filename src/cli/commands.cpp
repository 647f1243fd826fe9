#include "cli/commands.h"

namespace tacho {

void add_commands(Command app, CommandContext& context) {
  add_models_command(app, context);
  add_system_command(app, context);
  add_bench_command(app, context);
  add_suite_command(app, context);
  add_profile_command(app, context);
  add_train_command(app, context);
  add_data_command(app, context);
  add_results_command(app, context);
  add_compare_command(app, context);
  add_plan_command(app, context);
  add_report_command(app, context);
  add_infer_command(app, context);
  add_predict_command(app, context);
  add_weights_command(app, context);
  add_export_command(app, context);
  add_manual_command(app, context);
  add_completion_command(app, context);
}

bool runs_on_all_ranks(std::string_view command) {
  return command == "system" || command == "bench" || command == "suite" || command == "profile" ||
         command == "train" || command == "predict";
}

}  // namespace tacho
