// How the traits of a network are stored beside the compiled network.
#ifndef LATTICE_CPU_NETWORK_TRAITS_H_
#define LATTICE_CPU_NETWORK_TRAITS_H_

#include <openvino/openvino.hpp>
#include <optional>
#include <span>
#include <vector>

#include "native/model/model_info.h"

namespace lattice {

inline constexpr size_t kTraitsBytes = 15 * sizeof(int);

std::vector<char> BytesOf(NetworkTraits traits);

// Reads the first kTraitsBytes of `bytes`. Returns nullopt when they are fewer, when a number is
// out of its range, or when the model does not have this many classes.
std::optional<NetworkTraits> ReadTraits(std::span<const char> bytes, size_t classes);

// Throws unless the network's input and outputs have the shapes that `traits` tell: code that reads
// the outputs by the traits then stays within them.
void CheckPorts(const ov::CompiledModel& network, const NetworkTraits& traits);

}  // namespace lattice

#endif  // LATTICE_CPU_NETWORK_TRAITS_H_
