#pragma once

#include <span>
#include <string_view>

#include "engine/native/program.h"

namespace tacho::native {

// Rewrites of a program that keep what it computes.

// Inference: dropout passes its input on.
void remove_identities(Program& program);
// A convolution's kernel loses the taps that never meet its input but always the padding, as most of a 3x3
// kernel do on an image of one pixel; so do the convolution's gradients.
void drop_unused_taps(Program& program);
// Inference: a batch norm behind a convolution that nobody else reads becomes part of its weights and bias.
void fold_batch_norm(Program& program);
// Inference: the sum of a convolution and a value that dies there is accumulated onto that value.
void fuse_residual_add(Program& program);
// An activation behind a convolution, linear layer or sum is applied before the result is stored. In training
// too: the gradients of activations need their results only.
void fuse_activations(Program& program);
// Inference: the 2x2 max pooling behind a convolution is applied before the result is stored.
void fuse_max_pool(Program& program);
// Batch norm and the ReLU behind it are one sweep; in training their gradients as well.
void fuse_batch_norm_relu(Program& program);
// Training: the gradient of a ReLU in front of a max pooling is taken on the pooled side, where it needs the
// pooled values only: the larger ones in front of the pooling die with the forward pass.
void mask_pooled_gradients(Program& program);

// Training with little memory: the forward pass is cut into segments, of which only the values between them
// are kept; the backward pass computes each segment again when it gets there.
void recompute_segments(Program& program);
// Training: every other sum of a chain of residual blocks is computed again for the backward pass, from the
// sum before it and a batch norm.
void recompute_residual_sums(Program& program);
// Training: what a batch norm yields is computed again for the backward pass instead of being kept. Its input
// is kept anyway, and one more sweep costs less than the memory.
void recompute_batch_norm(Program& program);

// Training: the result of a convolution of the network's input that is a small part of all arithmetic, and
// what is only spread over a finer grid, are computed again for the backward pass: large, and cheap to make.
void recompute_cheap_activations(Program& program);
// Training without keeping gradients: that of a linear layer's weights comes after that of its input, which
// reads the weights. So they can be updated by each part of their gradient at once.
void delay_linear_gradients(Program& program);
// Training: gradients of a value that are added up, one of which is that of a convolution's or batch norm's
// input, are added before that is stored. This and the next are the last passes: others do not look at
// operands of post-ops in training.
void fuse_gradient_sums(Program& program);
// Training: the gradient of a ReLU behind the gradient of a convolution's input is applied before that is
// stored, perhaps over the ReLU's result.
void fuse_relu_gradients(Program& program);

// Inference: stretches of the program are taken in chunks of the batch, of at least so many images, where
// that keeps more in a cache of so many bytes than it costs to read weights once more. After all passes of
// the list below, of which it is none: it depends on the machine.
void take_batch_in_chunks(Program& program, int64_t cached_bytes, int64_t fewest_images);

struct Pass {
  std::string_view name;
  void (*run)(Program& program);
};

// Every pass in the order in which the compiler runs them.
std::span<const Pass> passes();

}  // namespace tacho::native
