// How the traits of a network are stored beside the compiled network.
#ifndef LATTICE_CPU_NETWORK_TRAITS_H_
#define LATTICE_CPU_NETWORK_TRAITS_H_

#include <openvino/openvino.hpp>
#include <optional>
#include <span>
#include <vector>

#include "native/model/model_info.h"

namespace lattice {

inline constexpr size_t kTraitsBytes = 16 * sizeof(int);

std::vector<char> BytesOf(NetworkTraits traits);

// Reads the first kTraitsBytes of `bytes`. Returns nullopt when they are fewer, when a number is
// out of its range, or when the model does not have this many classes.
std::optional<NetworkTraits> ReadTraits(std::span<const char> bytes, size_t classes);

// The type of the numbers in the network's input.
ov::element::Type InputType(const NetworkTraits& traits);

// Throws unless the network's input and outputs have the shapes that `traits` tell, and the input
// its numbers: code that reads and writes by the traits then stays within them.
void CheckPorts(const ov::CompiledModel& network, const NetworkTraits& traits);

}  // namespace lattice

#endif  // LATTICE_CPU_NETWORK_TRAITS_H_
