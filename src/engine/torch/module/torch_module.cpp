#include "engine/torch/module/torch_module.h"

#include "engine/torch/module/device.h"
#include "engine/torch/module/layout.h"
#include "engine/torch/module/nccl.h"
#include "engine/torch/module/precision.h"
#include "engine/torch/module/product_speed.h"
#include "engine/torch/module/torch_plan.h"

namespace tacho {

extern "C" const TorchModule& tacho_torch_module() {
  static constexpr TorchModule kModule = {.devices = &torch_engine::devices,
                                          .precisions = &torch_engine::precisions,
                                          .bus_id = &torch_engine::bus_id,
                                          .layouts = &torch_engine::layouts,
                                          .gpu_libraries = &torch_engine::gpu_libraries,
                                          .instruction_set = &torch_engine::instruction_set,
                                          .threads_of = &torch_engine::threads_of,
                                          .measure_product_gflops = &torch_engine::measure_product_gflops,
                                          .join_gpus = &torch_engine::join_gpus,
                                          .compile = &torch_engine::compile,
                                          .compile_like_gpu = &torch_engine::compile_like_gpu};
  return kModule;
}

}  // namespace tacho
