#include "op_cases.h"

#include <functional>

#include "graph/builder.h"

namespace tacho::conformance {
namespace {

using Layers = std::function<ValueId(Builder&, ValueId)>;

Graph build(const std::string& name, const Shape& input, const Layers& layers) {
  Builder builder(name);
  const ValueId x = builder.input("input", input);
  return builder.finish(layers(builder, x));
}

ValueId trained_head(Builder& b, ValueId x) {
  const size_t axes = b.shape(x).size() - 2;
  if (axes == 0) return b.linear("head", x, {.features = 5});
  return b.convolution("head", x, {.channels = 5, .kernel = Extents(axes, 1)});
}

// A network without parameters is not trained: it gets a layer that is.
OpCase make(std::string name, const Shape& input, const Layers& layers, Loss loss = Loss::dice) {
  Graph graph = build(name, input, layers);
  if (graph.weights().empty()) {
    graph = build(name, input, [&](Builder& b, ValueId x) { return trained_head(b, layers(b, x)); });
  }
  return {std::move(name), std::move(graph), loss};
}

OpCase convolution(std::string name, const Shape& input, ConvolutionOptions options) {
  return make("convolution_" + name, input,
              [&](Builder& b, ValueId x) { return b.convolution("conv", x, options); });
}

OpCase max_pool(std::string name, const Shape& input, MaxPool pool) {
  return make("max_pool_" + name, input, [&](Builder& b, ValueId x) { return b.max_pool("pool", x, pool); });
}

OpCase average_pool(std::string name, const Shape& input, AveragePool pool) {
  return make("average_pool_" + name, input,
              [&](Builder& b, ValueId x) { return b.average_pool("pool", x, pool); });
}

// Large enough for Winograd's algorithm, with channels that do not fill their last block and uneven edges.
void add_wide_convolutions(std::vector<OpCase>& cases) {
  cases.push_back(
      convolution("3x3_wide", {3, 12, 14, 17}, {.channels = 20, .kernel = {3, 3}, .padding = {1, 1}}));
  cases.push_back(
      convolution("3x3_wide_unpadded", {3, 20, 15, 18}, {.channels = 13, .kernel = {3, 3}, .bias = false}));
  cases.push_back(convolution("3x3x3_wide", {2, 12, 7, 9, 10},
                              {.channels = 13, .kernel = {3, 3, 3}, .padding = {1, 1, 1}}));
  cases.push_back(make("wide_residual", {3, 12, 14, 17}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 12, .kernel = {3, 3}, .padding = {1, 1}};
    const ValueId first = b.elu("elu", b.convolution("a", x, options));
    return b.add("add", b.convolution("b", first, options), first);
  }));
  cases.push_back(make("elu_max_pool", {3, 12, 14, 17}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 20, .kernel = {3, 3}, .padding = {1, 1}};
    return b.max_pool("pool", b.elu("elu", b.convolution("conv", x, options), 0.5), {.kernel = {2, 2}});
  }));
  cases.back().has_kinks = true;
  cases.push_back(make("relu_max_pool", {2, 16, 15, 14}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}};
    return b.max_pool("pool", b.relu("relu", b.convolution("conv", x, options)), {.kernel = {2, 2}});
  }));
  cases.back().has_kinks = true;
  for (const auto& [name, padding] : {std::pair{"overlapping", 0}, {"overlapping_padded", 1}}) {
    cases.push_back(make(std::string("relu_max_pool_") + name, {2, 7, 11, 12}, [&](Builder& b, ValueId x) {
      const ConvolutionOptions options = {.channels = 13, .kernel = {3, 3}, .padding = {1, 1}};
      return b.max_pool("pool", b.relu("relu", b.convolution("conv", x, options)),
                        {.kernel = {3, 3}, .stride = {2, 2}, .padding = {padding, padding}});
    }));
    cases.back().has_kinks = true;
  }
  cases.push_back(make("wide_relu_between", {3, 12, 14, 17}, [](Builder& b, ValueId x) {
    const ConvolutionOptions wide = {.channels = 20, .kernel = {3, 3}, .padding = {1, 1}},
                             narrow = {.channels = 13, .kernel = {3, 3}};
    const ValueId y = b.relu("relu", b.convolution("a", b.convolution("first", x, wide), wide));
    return b.convolution("b", y, narrow);
  }));
  cases.back().has_kinks = true;
  cases.push_back(make("wide_relu_read_twice", {2, 12, 9, 10}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 12, .kernel = {3, 3}, .padding = {1, 1}};
    const ValueId y = b.relu("relu", b.convolution("a", x, options));
    return b.add("add", b.convolution("b", y, options), b.convolution("c", y, options));
  }));
  cases.back().has_kinks = true;
  cases.push_back(make("wide_relu_between_3d", {2, 5, 6, 7, 9}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 12, .kernel = {3, 3, 3}, .padding = {1, 1, 1}};
    return b.convolution("b", b.relu("relu", b.convolution("a", x, options)), options);
  }));
  cases.back().has_kinks = true;
  cases.push_back(make("upsampled_concat", {2, 6, 6, 8}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 12, .kernel = {3, 3}, .padding = {1, 1}};
    const ValueId y = b.elu("elu", b.convolution("a", x, options));
    const ValueId small = b.average_pool("pool", y, {.kernel = {2, 2}});
    return b.sigmoid("sigmoid",
                     b.convolution("b", b.concat("concat", {b.upsample("up", small, {2, 2}), y}), options));
  }));
  cases.push_back(make("sigmoid_part_of_a_concat", {1, 8, 9, 7}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 8, .kernel = {3, 3}, .padding = {1, 1}};
    const ValueId part = b.sigmoid("sigmoid", b.convolution("part", x, options));
    return b.convolution("last", b.concat("concat", {part, b.convolution("other", x, options)}), options);
  }));
  cases.push_back(make("part_of_a_concat", {2, 8, 9, 7}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 8, .kernel = {3, 3}, .padding = {1, 1}};
    const ValueId part = b.convolution("part", x, options);
    const ValueId joined = b.concat("concat", {b.convolution("other", x, options), part});
    return b.add("add", b.convolution("last", joined, options), part);
  }));
  // Sums and activations that no convolution takes, as the second part of a concatenation.
  const auto second_part = [](const char* name, const auto& part) {
    return make(name, {2, 8, 9, 7}, [=](Builder& b, ValueId x) {
      const ConvolutionOptions options = {.channels = 8, .kernel = {3, 3}, .padding = {1, 1}};
      const ValueId first = b.convolution("first", x, options), y = b.convolution("y", x, options);
      return b.convolution("last", b.concat("concat", {first, part(b, x, y, options)}), options);
    });
  };
  cases.push_back(second_part("sum_in_a_concat", [](Builder& b, ValueId x, ValueId y, const auto& options) {
    return b.add("add", y, b.convolution("z", x, options));
  }));
  cases.push_back(
      second_part("rectified_sum_in_a_concat", [](Builder& b, ValueId x, ValueId y, const auto& options) {
        return b.relu("relu", b.add("add", b.convolution("z", x, options), y));
      }));
  cases.back().has_kinks = true;
  cases.push_back(second_part("pooled_in_a_concat", [](Builder& b, ValueId, ValueId y, const auto&) {
    const MaxPool pool = {.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}};
    return b.relu("relu", b.max_pool("pool", y, pool));
  }));
  cases.back().has_kinks = true;
  cases.push_back(make("wide_dense_block", {2, 8, 9, 7}, [](Builder& b, ValueId x) {
    for (const std::string name : {"one", "two", "three"}) {
      const ValueId y = b.relu(name + ".relu", b.batch_norm(name + ".norm", x));
      // Of a bias in front of nothing but batch norms the gradient would be no more than rounding.
      const ConvolutionOptions options = {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}, .bias = false};
      x = b.concat(name + ".concat", {x, b.convolution(name, y, options)});
    }
    return b.convolution("last", b.batch_norm("norm", x), {.channels = 8, .kernel = {1, 1}});
  }));
  cases.back().has_kinks = true;
  cases.push_back(make("wide_elu_3d", {2, 12, 6, 9, 11}, [](Builder& b, ValueId x) {
    return b.elu("elu",
                 b.convolution("conv", x, {.channels = 14, .kernel = {3, 3, 3}, .padding = {1, 1, 1}}));
  }));
}

void add_convolutions(std::vector<OpCase>& cases) {
  cases.push_back(convolution("1x1", {3, 5, 7, 6}, {.channels = 11, .kernel = {1, 1}}));
  cases.push_back(
      convolution("3x3_no_bias", {1, 3, 9, 7}, {.channels = 13, .kernel = {3, 3}, .bias = false}));
  cases.push_back(
      convolution("3x3_padded", {2, 16, 7, 9}, {.channels = 8, .kernel = {3, 3}, .padding = {1, 1}}));
  cases.push_back(convolution("7x7_stride_2", {1, 3, 17, 19},
                              {.channels = 9, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}}));
  cases.push_back(
      convolution("1x1_stride_2", {2, 10, 7, 5}, {.channels = 6, .kernel = {1, 1}, .stride = {2, 2}}));
  cases.push_back(convolution("rectangular", {2, 4, 8, 9},
                              {.channels = 5, .kernel = {1, 7}, .padding = {0, 3}, .bias = false}));
  cases.push_back(convolution("uneven_stride", {1, 6, 11, 10},
                              {.channels = 7, .kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 0}}));
  cases.push_back(convolution("dilated", {1, 5, 12, 11},
                              {.channels = 4, .kernel = {3, 3}, .padding = {2, 1}, .dilation = {2, 3}}));
  cases.push_back(
      convolution("groups", {3, 6, 7, 7}, {.channels = 9, .kernel = {3, 3}, .padding = {1, 1}, .groups = 3}));
  cases.push_back(
      convolution("depthwise", {2, 7, 8, 6},
                  {.channels = 7, .kernel = {3, 3}, .stride = {2, 1}, .padding = {1, 1}, .groups = 7}));
  cases.push_back(convolution("groups_dilated_stride", {1, 8, 13, 11},
                              {.channels = 6,
                               .kernel = {3, 3},
                               .stride = {2, 2},
                               .padding = {2, 2},
                               .dilation = {2, 2},
                               .groups = 2}));
  cases.push_back(convolution("one_channel_each", {1, 1, 5, 5}, {.channels = 1, .kernel = {3, 3}}));
  cases.push_back(convolution("whole_image", {3, 5, 4, 3}, {.channels = 6, .kernel = {4, 3}}));
  cases.push_back(
      convolution("3d", {1, 3, 5, 7, 6}, {.channels = 5, .kernel = {3, 3, 3}, .padding = {1, 1, 1}}));
  cases.push_back(convolution(
      "3d_uneven", {3, 5, 4, 7, 6},
      {.channels = 4, .kernel = {1, 3, 2}, .stride = {1, 2, 1}, .padding = {0, 1, 1}, .bias = false}));
  cases.push_back(convolution("3d_dilated_groups", {1, 4, 6, 5, 7},
                              {.channels = 6, .kernel = {2, 3, 3}, .dilation = {2, 1, 2}, .groups = 2}));
}

// Kernels of which some taps meet nothing but padding.
void add_convolutions_of_few_taps(std::vector<OpCase>& cases) {
  const ConvolutionOptions padded = {.channels = 11, .kernel = {3, 3}, .padding = {1, 1}};
  cases.push_back(convolution("3x3_on_one_cell", {3, 13, 1, 1}, padded));
  cases.push_back(convolution("3x3_on_one_cell_in_blocks", {4, 16, 1, 1},
                              {.channels = 24, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}));
  cases.push_back(
      convolution("3x3_stride_2_on_2x2", {3, 10, 2, 2},
                  {.channels = 9, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .bias = false}));
  cases.push_back(convolution("3x3_on_a_row", {2, 5, 1, 5}, padded));
  cases.push_back(
      convolution("5x5_on_2x2", {2, 12, 2, 2}, {.channels = 10, .kernel = {5, 5}, .padding = {2, 2}}));
  cases.push_back(convolution("7x7_stride_2_on_4x3", {2, 3, 4, 3},
                              {.channels = 9, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}}));
  cases.push_back(convolution("3x3x3_on_one_slice", {2, 5, 1, 4, 4},
                              {.channels = 7, .kernel = {3, 3, 3}, .padding = {1, 1, 1}}));
  cases.push_back(convolution("groups_on_one_cell", {3, 6, 1, 2},
                              {.channels = 9, .kernel = {3, 3}, .padding = {1, 1}, .groups = 3}));
  cases.push_back(convolution("depthwise_on_one_cell", {3, 7, 1, 1},
                              {.channels = 7, .kernel = {3, 3}, .padding = {1, 1}, .groups = 7}));
  cases.push_back(convolution("dilated_on_2x3", {2, 4, 2, 3},
                              {.channels = 5, .kernel = {3, 3}, .padding = {2, 3}, .dilation = {2, 3}}));
  cases.push_back(make("residual_on_one_cell", {5, 8, 2, 2}, [](Builder& b, ValueId x) {
    const ConvolutionOptions halving = {
        .channels = 8, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .bias = false};
    const ValueId shortcut = b.relu("relu", b.batch_norm("bn", b.convolution("a", x, halving)));
    const ConvolutionOptions options = {.channels = 8, .kernel = {3, 3}, .padding = {1, 1}, .bias = false};
    return b.add("add", b.batch_norm("bn2", b.convolution("b", shortcut, options)), shortcut);
  }));
}

void add_pooling(std::vector<OpCase>& cases) {
  cases.push_back(max_pool("2x2", {3, 5, 8, 6}, {.kernel = {2, 2}, .stride = {}, .padding = {}}));
  cases.push_back(max_pool("3x3_stride_2_padded", {1, 9, 11, 8},
                           {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}));
  cases.push_back(max_pool("ceil", {2, 3, 8, 10},
                           {.kernel = {3, 3}, .stride = {2, 2}, .padding = {}, .ceil_mode = true}));
  cases.push_back(max_pool("ceil_padded", {1, 4, 7, 8},
                           {.kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 1}, .ceil_mode = true}));
  cases.push_back(max_pool("3d_overlapping", {1, 5, 4, 9, 12},
                           {.kernel = {1, 4, 4}, .stride = {1, 3, 3}, .padding = {0, 1, 1}}));
  cases.push_back(max_pool("3d_ceil", {3, 2, 5, 5, 7},
                           {.kernel = {2, 2, 2}, .stride = {}, .padding = {}, .ceil_mode = true}));
  for (const bool count : {true, false}) {
    const std::string suffix = count ? "_padding_counted" : "_padding_not_counted";
    cases.push_back(
        average_pool("3x3_padded" + suffix, {2, 5, 7, 6},
                     {.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}, .count_padding = count}));
    cases.push_back(average_pool(
        "ceil" + suffix, {1, 3, 8, 7},
        {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .ceil_mode = true, .count_padding = count}));
    cases.push_back(average_pool(
        "3d" + suffix, {3, 4, 5, 6, 7},
        {.kernel = {2, 3, 2}, .stride = {2, 2, 1}, .padding = {1, 1, 0}, .count_padding = count}));
  }
  cases.push_back(average_pool("2x2", {2, 12, 6, 9}, {.kernel = {2, 2}, .stride = {}, .padding = {}}));
  const auto global = [](Builder& b, ValueId x) { return b.global_average_pool("pool", x); };
  cases.push_back(make("global_average_pool", {3, 5, 7, 3}, global));
  cases.push_back(make("global_average_pool_3d", {1, 9, 3, 4, 5}, global));
  const auto adaptive = [](Extents output) {
    return [output](Builder& b, ValueId x) { return b.adaptive_average_pool("pool", x, output); };
  };
  cases.push_back(make("adaptive_average_pool_smaller", {2, 5, 11, 8}, adaptive({3, 4})));
  cases.push_back(make("adaptive_average_pool_larger", {1, 3, 2, 3}, adaptive({7, 7})));
  cases.push_back(make("adaptive_average_pool_same", {1, 3, 7, 7}, adaptive({7, 7})));
  cases.push_back(make("adaptive_average_pool_3d", {2, 3, 5, 4, 7}, adaptive({2, 3, 3})));
}

void add_elementwise(std::vector<OpCase>& cases) {
  const Shape flat = {3, 5, 7, 3}, deep = {1, 3, 2, 5, 4}, matrix = {3, 17};
  const auto batch_norm = [](Builder& b, ValueId x) { return b.batch_norm("norm", x); };
  cases.push_back(make("batch_norm", flat, batch_norm));
  cases.push_back(make("batch_norm_3d", deep, batch_norm));
  cases.push_back(make("batch_norm_other_epsilon", {2, 9, 4, 5},
                       [](Builder& b, ValueId x) { return b.batch_norm("norm", x, 1e-3, 0.3); }));
  const auto relu = [](Builder& b, ValueId x) { return b.relu("relu", x); };
  const auto elu = [](Builder& b, ValueId x) { return b.elu("elu", x); };
  const auto sigmoid = [](Builder& b, ValueId x) { return b.sigmoid("sigmoid", x); };
  const auto dropout = [](Builder& b, ValueId x) { return b.dropout("drop", x, 0.3); };
  for (const auto& [suffix, shape] : {std::pair{"", flat}, {"_3d", deep}, {"_matrix", matrix}}) {
    const std::string ending = suffix;
    cases.push_back(make("relu" + ending, shape, relu));
    cases.push_back(make("elu" + ending, shape, elu));
    cases.push_back(make("sigmoid" + ending, shape, sigmoid));
    cases.push_back(make("dropout" + ending, shape, dropout));
  }
  cases.push_back(make("elu_other_alpha", flat, [](Builder& b, ValueId x) { return b.elu("elu", x, 0.4); }));
  cases.push_back(make("add_to_itself", flat, [](Builder& b, ValueId x) { return b.add("add", x, x); }));
}

void add_shape_ops(std::vector<OpCase>& cases) {
  const auto concat_three = [](Builder& b, ValueId x) {
    return b.concat("cat", {b.sigmoid("a", x), x, b.relu("b", x)});
  };
  cases.push_back(make("concat", {2, 5, 3, 4}, concat_three));
  cases.push_back(make("concat_3d", {1, 3, 2, 3, 4}, concat_three));
  cases.push_back(make("concat_of_one_value_twice", {2, 3, 3, 4}, [](Builder& b, ValueId x) {
    return b.concat("cat", {x, x});
  }));
  const auto linear = [](bool bias) {
    return [bias](Builder& b, ValueId x) { return b.linear("fc", x, {.features = 7, .bias = bias}); };
  };
  cases.push_back(make("linear", {3, 13}, linear(true)));
  cases.push_back(make("linear_no_bias", {1, 18}, linear(false)));
  const auto flatten = [](Builder& b, ValueId x) { return b.flatten("flatten", x); };
  cases.push_back(make("flatten", {3, 5, 2, 3}, flatten));
  cases.push_back(make("flatten_3d", {1, 3, 2, 3, 2}, flatten));
  cases.push_back(make("flatten_linear", {2, 5, 3, 2}, [](Builder& b, ValueId x) {
    return b.linear("fc", b.flatten("flatten", x), {.features = 4});
  }));
  cases.push_back(make("upsample", {3, 5, 3, 4}, [](Builder& b, ValueId x) {
    return b.upsample("up", x, {2, 3});
  }));
  cases.push_back(make("upsample_3d", {1, 9, 2, 3, 2}, [](Builder& b, ValueId x) {
    return b.upsample("up", x, {1, 3, 3});
  }));
  cases.push_back(make("crop", {3, 5, 7, 6}, [](Builder& b, ValueId x) {
    return b.crop("crop", x, {.begin = {2, 1}, .size = {4, 3}});
  }));
  cases.push_back(make("crop_outside", {2, 5, 3, 4}, [](Builder& b, ValueId x) {
    return b.crop("crop", x, {.begin = {-1, 2}, .size = {6, 3}});
  }));
  cases.push_back(make("crop_3d", {1, 9, 4, 3, 5}, [](Builder& b, ValueId x) {
    return b.crop("crop", x, {.begin = {1, 0, -2}, .size = {2, 3, 6}});
  }));
}

ValueId conv_norm_relu(Builder& b, const std::string& name, ValueId x, int64_t channels) {
  x = b.convolution(name + ".conv", x,
                    {.channels = channels, .kernel = {3, 3}, .padding = {1, 1}, .bias = false});
  return b.relu(name + ".relu", b.batch_norm(name + ".bn", x));
}

// Patterns that engines fuse, and values with several uses.
void add_combinations(std::vector<OpCase>& cases) {
  cases.push_back(make("cropped_concat", {2, 6, 7, 8}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options = {.channels = 8, .kernel = {3, 3}};
    const ValueId wide = b.convolution("a", x, options), narrow = b.convolution("b", wide, options);
    const ValueId cropped = b.crop("crop", wide, {.begin = {1, 1}, .size = spatial(b.shape(narrow))});
    return b.convolution("c", b.concat("concat", {narrow, cropped}), options);
  }));
  cases.push_back(make("conv_norm_relu", {2, 3, 6, 7},
                       [](Builder& b, ValueId x) { return conv_norm_relu(b, "a", x, 9); }));
  cases.push_back(make("conv_elu_3d", {1, 2, 3, 5, 4}, [](Builder& b, ValueId x) {
    return b.elu("elu", b.convolution("conv", x, {.channels = 5, .kernel = {3, 3, 3}, .padding = {1, 1, 1}}));
  }));
  cases.push_back(make("conv_sigmoid", {1, 4, 5, 6}, [](Builder& b, ValueId x) {
    return b.sigmoid("sigmoid", b.convolution("conv", x, {.channels = 3, .kernel = {3, 3}}));
  }));
  cases.push_back(make("norm_relu_conv", {2, 5, 6, 5}, [](Builder& b, ValueId x) {
    const ValueId y = b.relu("relu", b.batch_norm("norm", x));
    return b.convolution("conv", y, {.channels = 6, .kernel = {1, 1}, .bias = false});
  }));
  cases.push_back(make("residual", {2, 7, 5, 6}, [](Builder& b, ValueId x) {
    const ValueId shortcut = conv_norm_relu(b, "a", x, 10);
    // Without bias: a batch norm behind it would make its gradient zero, and rounding noise cannot be
    // compared.
    const ValueId y =
        b.convolution("conv", shortcut, {.channels = 10, .kernel = {3, 3}, .padding = {1, 1}, .bias = false});
    return b.relu("relu", b.add("add", b.batch_norm("bn", y), shortcut));
  }));
  cases.push_back(make("residual_with_projection", {1, 5, 7, 7}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options{.channels = 9, .kernel = {1, 1}, .stride = {2, 2}, .bias = false};
    const ValueId left = b.batch_norm("left.bn", b.convolution("left.conv", x, options));
    const ValueId right = b.batch_norm("right.bn", b.convolution("right.conv", x, options));
    return b.relu("relu", b.add("add", left, right));
  }));
  cases.push_back(make("dense_block", {2, 6, 5, 4}, [](Builder& b, ValueId x) {
    const ValueId first = conv_norm_relu(b, "a", x, 5);
    const ValueId second = conv_norm_relu(b, "b", b.concat("cat.a", {x, first}), 3);
    return b.convolution("conv", b.concat("cat.b", {x, first, second}), {.channels = 4, .kernel = {1, 1}});
  }));
  // As in SqueezeNet, where slices of a concatenation are dropped, and of channels that fill no block.
  for (const int64_t channels : {16, 5}) {
    cases.push_back(
        make("dropout_between_" + std::to_string(channels), {2, 6, 5, 4}, [=](Builder& b, ValueId x) {
          const ConvolutionOptions options = {.channels = channels, .kernel = {3, 3}, .padding = {1, 1}};
          const ValueId one = b.relu("one", b.convolution("a", x, options));
          const ValueId two = b.relu("two", b.convolution("b", x, options));
          const ValueId whole =
              b.dropout("drop", b.concat("cat", {b.dropout("drop.one", one, 0.4), two}), 0.3);
          return b.convolution("c", whole, {.channels = channels, .kernel = {1, 1}});
        }));
  }
  cases.push_back(make("relu_used_twice", {1, 5, 6, 6}, [](Builder& b, ValueId x) {
    const ValueId y = b.relu("relu", b.convolution("conv", x, {.channels = 6, .kernel = {3, 3}}));
    const ValueId pooled =
        b.upsample("up", b.max_pool("pool", y, {.kernel = {2, 2}, .stride = {}, .padding = {}}), {2, 2});
    return b.concat("cat", {y, pooled});
  }));
  cases.push_back(make("encoder_decoder_3d", {1, 1, 3, 6, 6}, [](Builder& b, ValueId x) {
    const ConvolutionOptions options{.channels = 3, .kernel = {3, 3, 3}, .padding = {1, 1, 1}};
    x = b.elu("a.elu", b.convolution("a", x, options));
    const ValueId down =
        b.max_pool("pool", x, {.kernel = {1, 4, 4}, .stride = {1, 3, 3}, .padding = {0, 1, 1}});
    const ValueId base = b.elu("b.elu", b.convolution("b", down, options));
    const ValueId up = b.upsample("up", b.concat("cat", {base, down}), {1, 3, 3});
    return b.sigmoid("sigmoid", b.convolution("out", up, options));
  }));
}

void add_losses(std::vector<OpCase>& cases) {
  const auto linear = [](Builder& b, ValueId x) { return b.linear("fc", x, {.features = 9}); };
  cases.push_back(make("cross_entropy", {5, 11}, linear, Loss::softmax_cross_entropy));
  cases.push_back(make("cross_entropy_one_image", {1, 11}, linear, Loss::softmax_cross_entropy));
  cases.push_back(make("cross_entropy_smoothed", {5, 11}, linear, Loss::softmax_cross_entropy));
  cases.back().label_smoothing = 0.1;
  cases.push_back(make(
      "classifier", {3, 3, 9, 9},
      [](Builder& b, ValueId x) {
        x = b.max_pool("pool", conv_norm_relu(b, "a", x, 12),
                       {.kernel = {3, 3}, .stride = {2, 2}, .padding = {}});
        x = b.flatten("flatten", b.global_average_pool("avgpool", conv_norm_relu(b, "b", x, 10)));
        return b.linear("fc", b.dropout("drop", x, 0.5), {.features = 5});
      },
      Loss::softmax_cross_entropy));
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> cases;
  add_convolutions(cases);
  add_wide_convolutions(cases);
  add_convolutions_of_few_taps(cases);
  add_pooling(cases);
  add_elementwise(cases);
  add_shape_ops(cases);
  add_combinations(cases);
  add_losses(cases);
  return cases;
}

}  // namespace tacho::conformance
