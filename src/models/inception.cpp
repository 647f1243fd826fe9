#include "models/families.h"

namespace tacho {
namespace {

constexpr double kEpsilon = 1e-3;
constexpr TruncatedNormal kWeights = {.deviation = 0.1, .bound = 2};

// The layers of one named module: `network.unit("Mixed_5b.branch1x1", ...)` and so on.
class Module {
 public:
  Module(Builder& builder, std::string prefix) : builder_(builder), prefix_(std::move(prefix)) {}

  // Convolution, batch norm, ReLU.
  ValueId unit(const std::string& name, ValueId x, int64_t channels, Extents kernel, Extents padding = {0, 0},
               int64_t stride = 1) const {
    const std::string full = prefix_ + name;
    x = builder_.convolution(full + ".conv", x,
                             {.channels = channels,
                              .kernel = std::move(kernel),
                              .stride = {stride, stride},
                              .padding = std::move(padding),
                              .bias = false,
                              .weight_init = kWeights});
    x = builder_.batch_norm(full + ".bn", x, kEpsilon);
    return builder_.relu(full + ".relu", x);
  }

  ValueId max_pool(const std::string& name, ValueId x) const {
    return builder_.max_pool(prefix_ + name, x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {}});
  }

  // Average pooling that keeps the size, then a 1x1 unit.
  ValueId pool_branch(ValueId x, int64_t channels) const {
    x = builder_.average_pool(prefix_ + "pool", x, {.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}});
    return unit("branch_pool", x, channels, {1, 1});
  }

  ValueId concat(const std::string& name, const std::vector<ValueId>& parts) const {
    return builder_.concat(prefix_ + name, parts);
  }

 private:
  Builder& builder_;
  std::string prefix_;
};

ValueId mixed_a(const Module& m, ValueId x, int64_t pool_channels) {
  const ValueId one = m.unit("branch1x1", x, 64, {1, 1});

  ValueId five = m.unit("branch5x5_1", x, 48, {1, 1});
  five = m.unit("branch5x5_2", five, 64, {5, 5}, {2, 2});

  ValueId three = m.unit("branch3x3dbl_1", x, 64, {1, 1});
  three = m.unit("branch3x3dbl_2", three, 96, {3, 3}, {1, 1});
  three = m.unit("branch3x3dbl_3", three, 96, {3, 3}, {1, 1});

  return m.concat("concat", {one, five, three, m.pool_branch(x, pool_channels)});
}

ValueId mixed_b(const Module& m, ValueId x) {
  const ValueId three = m.unit("branch3x3", x, 384, {3, 3}, {0, 0}, 2);

  ValueId twice = m.unit("branch3x3dbl_1", x, 64, {1, 1});
  twice = m.unit("branch3x3dbl_2", twice, 96, {3, 3}, {1, 1});
  twice = m.unit("branch3x3dbl_3", twice, 96, {3, 3}, {0, 0}, 2);

  return m.concat("concat", {three, twice, m.max_pool("branch_pool", x)});
}

ValueId mixed_c(const Module& m, ValueId x, int64_t channels) {
  const ValueId one = m.unit("branch1x1", x, 192, {1, 1});

  ValueId seven = m.unit("branch7x7_1", x, channels, {1, 1});
  seven = m.unit("branch7x7_2", seven, channels, {1, 7}, {0, 3});
  seven = m.unit("branch7x7_3", seven, 192, {7, 1}, {3, 0});

  ValueId twice = m.unit("branch7x7dbl_1", x, channels, {1, 1});
  twice = m.unit("branch7x7dbl_2", twice, channels, {7, 1}, {3, 0});
  twice = m.unit("branch7x7dbl_3", twice, channels, {1, 7}, {0, 3});
  twice = m.unit("branch7x7dbl_4", twice, channels, {7, 1}, {3, 0});
  twice = m.unit("branch7x7dbl_5", twice, 192, {1, 7}, {0, 3});

  return m.concat("concat", {one, seven, twice, m.pool_branch(x, 192)});
}

ValueId mixed_d(const Module& m, ValueId x) {
  ValueId three = m.unit("branch3x3_1", x, 192, {1, 1});
  three = m.unit("branch3x3_2", three, 320, {3, 3}, {0, 0}, 2);

  ValueId seven = m.unit("branch7x7x3_1", x, 192, {1, 1});
  seven = m.unit("branch7x7x3_2", seven, 192, {1, 7}, {0, 3});
  seven = m.unit("branch7x7x3_3", seven, 192, {7, 1}, {3, 0});
  seven = m.unit("branch7x7x3_4", seven, 192, {3, 3}, {0, 0}, 2);

  return m.concat("concat", {three, seven, m.max_pool("branch_pool", x)});
}

// Two units side by side, one looking along each axis.
ValueId cross(const Module& m, const std::string& name, ValueId x) {
  const ValueId across = m.unit(name + "a", x, 384, {1, 3}, {0, 1});
  const ValueId down = m.unit(name + "b", x, 384, {3, 1}, {1, 0});
  return m.concat(name + ".concat", {across, down});
}

ValueId mixed_e(const Module& m, ValueId x) {
  const ValueId one = m.unit("branch1x1", x, 320, {1, 1});

  ValueId three = m.unit("branch3x3_1", x, 384, {1, 1});
  three = cross(m, "branch3x3_2", three);

  ValueId twice = m.unit("branch3x3dbl_1", x, 448, {1, 1});
  twice = m.unit("branch3x3dbl_2", twice, 384, {3, 3}, {1, 1});
  twice = cross(m, "branch3x3dbl_3", twice);

  return m.concat("concat", {one, three, twice, m.pool_branch(x, 192)});
}

ValueId stem(const Module& m, ValueId x) {
  x = m.unit("Conv2d_1a_3x3", x, 32, {3, 3}, {0, 0}, 2);
  x = m.unit("Conv2d_2a_3x3", x, 32, {3, 3});
  x = m.unit("Conv2d_2b_3x3", x, 64, {3, 3}, {1, 1});
  x = m.max_pool("maxpool1", x);
  x = m.unit("Conv2d_3b_1x1", x, 80, {1, 1});
  x = m.unit("Conv2d_4a_3x3", x, 192, {3, 3});
  return m.max_pool("maxpool2", x);
}

}  // namespace

Graph inception(const Model& model, const ModelOptions& options, const InceptionConfig&) {
  Builder builder{std::string(model.name)};
  const auto mixed = [&](const std::string& name) { return Module(builder, "Mixed_" + name + "."); };

  ValueId x = stem(Module(builder, ""), image_input(builder, model, options));
  x = mixed_a(mixed("5b"), x, 32);
  x = mixed_a(mixed("5c"), x, 64);
  x = mixed_a(mixed("5d"), x, 64);
  x = mixed_b(mixed("6a"), x);
  x = mixed_c(mixed("6b"), x, 128);
  x = mixed_c(mixed("6c"), x, 160);
  x = mixed_c(mixed("6d"), x, 160);
  x = mixed_c(mixed("6e"), x, 192);
  x = mixed_d(mixed("7a"), x);
  x = mixed_e(mixed("7b"), x);
  x = mixed_e(mixed("7c"), x);

  x = builder.global_average_pool("avgpool", x);
  x = builder.dropout("dropout", x, 0.5);
  x = builder.flatten("flatten", x);
  return builder.finish(builder.linear("fc", x, {.features = options.classes, .weight_init = kWeights}));
}

}  // namespace tacho
