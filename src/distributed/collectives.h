#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "distributed/communicator.h"

// What all ranks do together, made of messages. MPI's own collectives spin while they wait, which takes the
// core of whoever computes there, and leave the order of sums to the library.
namespace tacho {

// Returns when every rank has called it.
void barrier(Communicator& ranks);

// What rank 0 has, everywhere.
void broadcast(Communicator& ranks, std::span<std::byte> bytes);
std::string broadcast(Communicator& ranks, std::string text);
int64_t broadcast(Communicator& ranks, int64_t number);

// Everybody's numbers, as many from each rank, one rank behind the other.
std::vector<double> all_gather(Communicator& ranks, std::span<const double> own);

// Everybody's text, in the order of the ranks.
std::vector<std::string> all_gather(Communicator& ranks, const std::string& own);

// Whether anybody says yes.
bool any(Communicator& ranks, bool own);

// Rank 0 hands out `whole`, `parts[r]` bytes to rank r, one behind the other; `own` takes this rank's.
void scatter(Communicator& ranks, std::span<const std::byte> whole, std::span<const size_t> parts,
             std::span<std::byte> own);
// The reverse.
void gather(Communicator& ranks, std::span<const std::byte> own, std::span<const size_t> parts,
            std::span<std::byte> whole);

// Every value becomes the mean over the ranks, which is the same bit by bit on all of them and in every run:
// a ring, in which each rank adds up one part of the values in the order of the ranks. `scratch` has at least
// ring_scratch() floats.
void all_reduce_mean(Communicator& ranks, std::span<float> values, std::span<float> scratch);
size_t ring_scratch(size_t values, int ranks);

// Bytes that this rank sends for it.
int64_t ring_bytes(size_t values, int ranks);

}  // namespace tacho
