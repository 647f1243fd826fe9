#pragma once

#include "results/record.h"
#include "train/trainer.h"

namespace tacho {

// Interprets what a training run gave.
Record make_train_record(const Recipe& recipe, const TrainControl& control, const TrainResult& result,
                         const SystemInfo& system);

// A run that could not be made.
Record make_failed_train_record(const Recipe& recipe, Verdict verdict, const std::string& reason,
                                const SystemInfo& system);

}  // namespace tacho
