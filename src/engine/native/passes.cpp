#include "engine/native/passes.h"

namespace tacho::native {

std::span<const Pass> passes() {
  static constexpr Pass kPasses[] = {
      {"remove_identities", remove_identities},
      {"drop_unused_taps", drop_unused_taps},
      {"fold_batch_norm", fold_batch_norm},
      {"fuse_residual_add", fuse_residual_add},
      {"fuse_batch_norm_relu", fuse_batch_norm_relu},
      {"mask_pooled_gradients", mask_pooled_gradients},
      {"fuse_activations", fuse_activations},
      {"fuse_max_pool", fuse_max_pool},
      {"recompute_segments", recompute_segments},
      {"recompute_residual_sums", recompute_residual_sums},
      {"recompute_batch_norm", recompute_batch_norm},
      {"recompute_cheap_activations", recompute_cheap_activations},
      {"delay_linear_gradients", delay_linear_gradients},
      {"fuse_gradient_sums", fuse_gradient_sums},
      {"fuse_relu_gradients", fuse_relu_gradients},
  };
  return kPasses;
}

}  // namespace tacho::native
