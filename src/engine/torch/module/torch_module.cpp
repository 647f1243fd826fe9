#include "engine/torch/module/torch_module.h"

#include "engine/torch/module/device.h"
#include "engine/torch/module/layout.h"
#include "engine/torch/module/precision.h"
#include "engine/torch/module/torch_plan.h"

namespace tacho {

extern "C" const TorchModule& tacho_torch_module() {
  static constexpr TorchModule kModule = {
      &torch_engine::devices,    &torch_engine::precisions,    &torch_engine::bus_id,
      &torch_engine::layouts,    &torch_engine::gpu_libraries, &torch_engine::instruction_set,
      &torch_engine::threads_of, &torch_engine::compile,       &torch_engine::compile_like_gpu};
  return kModule;
}

}  // namespace tacho
