#pragma once

// With onednn_layout.h all that differs between oneDNN 2 (Debian 12) and 3 (Debian 13): how primitives are
// described. These are templates so that what the other version lacks is never compiled.

#include <vector>

#include "engine/native/onednn_layout.h"

namespace tacho::native {

// oneDNN 2 wants the operation described first. `arguments` are the operation's, in the order of both.
template<typename Primitive, typename... Arguments>
auto describe(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
              const Arguments&... arguments) {
  using Description = typename Primitive::primitive_desc;
  if constexpr (kOnednn3) {
    return Description(engine, arguments..., attributes);
  } else {
    return Description(typename Primitive::desc(arguments...), attributes, engine);
  }
}

template<typename Primitive, typename Forward, typename... Arguments>
auto describe_backward(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                       const Forward& forward, const Arguments&... arguments) {
  using Description = typename Primitive::primitive_desc;
  if constexpr (kOnednn3) {
    return Description(engine, arguments..., forward, attributes);
  } else {
    return Description(typename Primitive::desc(arguments...), attributes, engine, forward);
  }
}

// Of data whose result has the same layout: oneDNN 3 wants to hear it.
template<typename Primitive = dnnl::eltwise_forward>
auto describe_eltwise(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                      dnnl::prop_kind pass, dnnl::algorithm kind, const dnnl::memory::desc& data,
                      float alpha) {
  if constexpr (kOnednn3) {
    return describe<Primitive>(engine, attributes, pass, kind, data, data, alpha, 0.0f);
  } else {
    return describe<Primitive>(engine, attributes, pass, kind, data, alpha, 0.0f);
  }
}

template<typename Primitive = dnnl::eltwise_backward>
auto describe_eltwise_backward(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                               const dnnl::eltwise_forward::primitive_desc& forward, dnnl::algorithm kind,
                               const dnnl::memory::desc& data, float alpha) {
  if constexpr (kOnednn3) {
    return describe_backward<Primitive>(engine, attributes, forward, kind, data, data, data, alpha, 0.0f);
  } else {
    return describe_backward<Primitive>(engine, attributes, forward, kind, data, data, alpha, 0.0f);
  }
}

template<typename Primitive = dnnl::batch_normalization_forward>
auto describe_batch_norm(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                         dnnl::prop_kind pass, const dnnl::memory::desc& data, float epsilon,
                         dnnl::normalization_flags flags) {
  if constexpr (kOnednn3) {
    return describe<Primitive>(engine, attributes, pass, data, data, epsilon, flags);
  } else {
    return describe<Primitive>(engine, attributes, pass, data, epsilon, flags);
  }
}

template<typename Primitive = dnnl::batch_normalization_backward>
auto describe_batch_norm_backward(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                  const dnnl::batch_normalization_forward::primitive_desc& forward,
                                  const dnnl::memory::desc& data, float epsilon,
                                  dnnl::normalization_flags flags) {
  constexpr auto kPass = dnnl::prop_kind::backward;
  if constexpr (kOnednn3) {
    return describe_backward<Primitive>(engine, attributes, forward, kPass, data, data, data, epsilon, flags);
  } else {
    return describe_backward<Primitive>(engine, attributes, forward, kPass, data, data, epsilon, flags);
  }
}

// oneDNN 2 counts the shift among what the gradient takes, but never reads it; oneDNN 3 refuses it.
inline constexpr bool kNormGradientTakesShift = !kOnednn3;

struct PoolingWindow {
  dnnl::memory::dims kernel, stride, padding, padding_end;

  // For oneDNN 3, which counts it from 0.
  dnnl::memory::dims no_dilation() const { return dnnl::memory::dims(kernel.size(), 0); }
};

template<typename Primitive = dnnl::pooling_forward>
auto describe_pooling(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                      dnnl::prop_kind pass, dnnl::algorithm kind, const dnnl::memory::desc& src,
                      const dnnl::memory::desc& dst, const PoolingWindow& window) {
  if constexpr (kOnednn3) {
    return describe<Primitive>(engine, attributes, pass, kind, src, dst, window.stride, window.kernel,
                               window.no_dilation(), window.padding, window.padding_end);
  } else {
    return describe<Primitive>(engine, attributes, pass, kind, src, dst, window.stride, window.kernel,
                               window.padding, window.padding_end);
  }
}

template<typename Primitive = dnnl::pooling_backward>
auto describe_pooling_backward(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                               const dnnl::pooling_forward::primitive_desc& forward, dnnl::algorithm kind,
                               const dnnl::memory::desc& diff_src, const dnnl::memory::desc& diff_dst,
                               const PoolingWindow& window) {
  if constexpr (kOnednn3) {
    return describe_backward<Primitive>(engine, attributes, forward, kind, diff_src, diff_dst, window.stride,
                                        window.kernel, window.no_dilation(), window.padding,
                                        window.padding_end);
  } else {
    return describe_backward<Primitive>(engine, attributes, forward, kind, diff_src, diff_dst, window.stride,
                                        window.kernel, window.padding, window.padding_end);
  }
}

template<typename Description = dnnl::concat::primitive_desc>
Description describe_concat(const dnnl::engine& engine, const dnnl::primitive_attr& attributes, int axis,
                            const std::vector<dnnl::memory::desc>& parts) {
  if constexpr (kOnednn3) {
    return Description(engine, axis, parts, attributes);
  } else {
    return Description(axis, parts, engine, attributes);
  }
}

template<typename PostOps>
void append_eltwise(dnnl::algorithm kind, float alpha, PostOps& ops) {
  if constexpr (kOnednn3) {
    ops.append_eltwise(kind, alpha, 0.0f);
  } else {
    ops.append_eltwise(1.0f, kind, alpha, 0.0f);
  }
}

}  // namespace tacho::native
