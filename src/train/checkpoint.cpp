#include "train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "tensors/safetensors.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-", kSuffix = ".safetensors", kTemporary = ".tmp";
constexpr const char* kState = "state.json";
constexpr const char* kCounters = "counters";

std::string state_name(int which, const std::string& parameter) {
  return fmt::format("optimizer.{}/{}", which, parameter);
}

Tensor text_tensor(const std::string& text) {
  Tensor tensor({static_cast<int64_t>(text.size())}, DType::u8);
  std::memcpy(tensor.raw(), text.data(), text.size());
  return tensor;
}

Tensor take(Weights& tensors, const std::string& name, DType dtype) {
  auto node = tensors.extract(name);
  if (node.empty() || node.mapped().dtype() != dtype) {
    throw UserError("is no checkpoint: it has no tensor '{}'", name);
  }
  return std::move(node.mapped());
}

Weights to_file(Checkpoint checkpoint) {
  const int64_t counters[] = {static_cast<int64_t>(checkpoint.counters.passes), checkpoint.counters.updates};
  checkpoint.tensors[kCounters] = Tensor::from<int64_t>({2}, counters);
  checkpoint.tensors[kState] = text_tensor(to_json_text(checkpoint.state));
  return std::move(checkpoint.tensors);
}

Checkpoint from_file(const fs::path& path) {
  Checkpoint checkpoint;
  checkpoint.tensors = read_safetensors(path);
  try {
    const Tensor state = take(checkpoint.tensors, kState, DType::u8);
    const Tensor counters = take(checkpoint.tensors, kCounters, DType::i64);
    if (counters.size() != 2)
      throw UserError("is no checkpoint: '{}' has {} values", kCounters, counters.size());
    const auto text = state.values<uint8_t>();
    checkpoint.state = state_from_json_text({text.begin(), text.end()});
    checkpoint.counters = {static_cast<uint64_t>(counters.values<int64_t>()[0]),
                           counters.values<int64_t>()[1]};
  } catch (const UserError& error) {
    throw UserError("{}: {}", path.string(), error.what());
  }
  return checkpoint;
}

}  // namespace

Weights read_weights(const Plan& plan, const Graph& graph) {
  Weights weights;
  for (const ValueId id : graph.weights()) weights[graph.value(id).name] = plan.read(id);
  return weights;
}

Checkpoint take_checkpoint(const Plan& plan, const Graph& graph, int states_per_parameter) {
  Checkpoint checkpoint;
  checkpoint.tensors = read_weights(plan, graph);
  for (const auto& [parameter, gradient] : graph.gradients) {
    for (int which = 0; which < states_per_parameter; ++which) {
      checkpoint.tensors[state_name(which, graph.value(parameter).name)] = plan.read_state(parameter, which);
    }
  }
  checkpoint.counters = plan.counters();
  return checkpoint;
}

void restore_checkpoint(const Checkpoint& checkpoint, const Graph& graph, int states_per_parameter,
                        Plan& plan) {
  const auto find = [&](const std::string& name, const Shape& shape) -> const Tensor& {
    const auto found = checkpoint.tensors.find(name);
    if (found == checkpoint.tensors.end() || found->second.shape() != shape ||
        found->second.dtype() != DType::f32) {
      throw UserError("the checkpoint does not fit the network: it has no '{}' of shape {}", name,
                      to_string(shape));
    }
    return found->second;
  };
  for (const ValueId id : graph.weights()) plan.write(id, find(graph.value(id).name, graph.shape(id)));
  for (const auto& [parameter, gradient] : graph.gradients) {
    for (int which = 0; which < states_per_parameter; ++which) {
      const std::string name = state_name(which, graph.value(parameter).name);
      plan.write_state(parameter, which, find(name, graph.shape(parameter)));
    }
  }
  plan.set_counters(checkpoint.counters);
}

CheckpointFolder::CheckpointFolder(fs::path folder, int kept) : folder_(std::move(folder)), kept_(kept) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error || !fs::is_directory(folder_, error)) {
    throw UserError("--checkpoint {}: no directory can be made there{}", folder_.string(),
                    error ? fmt::format(": {}", error.message()) : "");
  }
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kTemporary)) fs::remove(entry.path(), error);
  }
}

std::vector<fs::path> CheckpointFolder::files() const {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) found.push_back(entry.path());
  }
  if (error) throw UserError("--checkpoint {}: cannot be read: {}", folder_.string(), error.message());
  std::ranges::sort(found);
  return found;
}

void CheckpointFolder::write(Checkpoint checkpoint) {
  const fs::path file = folder_ / fmt::format("{}{:010}{}", kPrefix, checkpoint.state.step, kSuffix);
  write_safetensors(file, to_file(std::move(checkpoint)));
  std::vector<fs::path> old = files();
  std::error_code ignored;
  for (; old.back() != file; old.pop_back()) fs::remove(old.back(), ignored);
  for (size_t i = 0; i + static_cast<size_t>(kept_) < old.size(); ++i) fs::remove(old[i], ignored);
}

std::optional<Checkpoint> CheckpointFolder::read_latest(std::vector<std::string>& unreadable) const {
  std::vector<fs::path> found = files();
  for (auto file = found.rbegin(); file != found.rend(); ++file) {
    try {
      return from_file(*file);
    } catch (const UserError& error) {
      unreadable.emplace_back(error.what());
    }
  }
  return {};
}

}  // namespace tacho
