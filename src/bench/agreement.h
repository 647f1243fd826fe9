#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace tacho {

// What a first pass gives, before any update.
struct PassOutcome {
  Tensor prediction;
  double loss = 0;                     // of training
  std::vector<Tensor> gradients = {};  // of training, in the graph's order
};

// Runs a pass of a plan that has its weights and inputs: again with a smaller scale where gradients overflow
// and losses are scaled. Devices that share a pass all repeat it where `any` says that one of them must.
PassOutcome first_pass(Plan& plan, const Graph& graph, const std::function<bool(bool own)>& any = {});

// How far two outcomes of the same work may lie apart: the length of the difference relative to the length of
// the first, of all gradients together; and how much their gradients may differ in length.
struct AgreementBounds {
  double prediction = 0, loss = 0, gradients = 0, gradient_length = 0;
};

// Where one of both computes in these numbers, the other in at least as exact ones.
AgreementBounds agreement_bounds(const std::string& precision);

AgreementBounds looser(const AgreementBounds& a, const AgreementBounds& b);

// Throws std::runtime_error that says what lies how far apart.
void require_agreement(const PassOutcome& truth, const PassOutcome& other, const AgreementBounds& bounds);

}  // namespace tacho
