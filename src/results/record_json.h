#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "results/record.h"

namespace tacho {

// Empty where it has none.
std::string id_of(const Json& record);

// The fields that apply, in the order of results/fields.h, then those that were carried.
Json to_json(const Record& record);
Json json_of(const SystemInfo& system);
Json json_of(const MachineSpeed& speed);
Json json_of(const GpuSpeed& speed);
Json json_of(const GpuInfo& gpu);
Json json_of(const EngineInfo& engine);
Json json_of(const Epoch& epoch);
Json json_of(const RankTimes& times);
Json json_of(const GradientBucket& bucket);
Json json_of(const VolumeSlice& slice);

// A record that a newer program wrote and this one cannot interpret.
class NewerRecord : public UserError {
 public:
  using UserError::UserError;
};

// The reverse of to_json(); fields without a name here are carried. Throws NewerRecord for a schema, kind or
// mode that this program does not have, and UserError for what no program would have written: a missing
// field, a value of another type, figures that do not follow from their samples.
Record record_from_json(const Json& json);
void read(const Json& json, SystemInfo& system);
void read(const Json& json, MachineSpeed& speed);
void read(const Json& json, GpuSpeed& speed);
void read(const Json& json, GpuInfo& gpu);
void read(const Json& json, EngineInfo& engine);
void read(const Json& json, Epoch& epoch);
void read(const Json& json, RankTimes& times);
void read(const Json& json, GradientBucket& bucket);
void read(const Json& json, VolumeSlice& slice);

}  // namespace tacho
