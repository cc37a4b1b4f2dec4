// The form in which findings are kept with the compiled network.
#ifndef LATTICE_CPU_FINDINGS_H_
#define LATTICE_CPU_FINDINGS_H_

#include <openvino/openvino.hpp>
#include <optional>
#include <span>
#include <vector>

#include "native/model/model_info.h"

namespace lattice {

std::vector<char> BytesOf(Findings findings);

// Nothing where a number is beyond what it can be for a model of so many classes.
inline constexpr size_t kFindingsBytes = 15 * sizeof(int);
std::optional<Findings> ReadFindings(std::span<const char> bytes, size_t classes);

// Throws unless the network's input and outputs are those that were found: what is computed of the
// outputs lies within them then.
void CheckPorts(const ov::CompiledModel& network, const Findings& findings);

}  // namespace lattice

#endif  // LATTICE_CPU_FINDINGS_H_
