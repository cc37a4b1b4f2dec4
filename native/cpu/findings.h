// Findings from reading a model, beside its metadata, in the form in which they are kept with the
// compiled network.
#ifndef LATTICE_CPU_FINDINGS_H_
#define LATTICE_CPU_FINDINGS_H_

#include <openvino/openvino.hpp>
#include <optional>
#include <span>
#include <vector>

#include "native/cpu/openvino_model.h"
#include "native/model/head.h"
#include "native/model/input_size.h"
#include "native/model/model_info.h"

namespace lattice {

struct Findings {
  InputSize input = {};
  Head head = {};
  int anchors = 0;
  bool any_rectangle = false;
  int fixed_batch = 0;
  bool stretched = false;
  bool only_f32 = false;
  Quantization quantization = Quantization::kNone;
};

Findings FoundIn(const OpenVinoModel& model);

// Sets what was found.
void Describe(const Findings& findings, ModelInfo* info);

std::vector<char> BytesOf(const Findings& findings);

// Nothing where a number is beyond what it can be for a model of so many classes.
inline constexpr size_t kFindingsBytes = 15 * sizeof(int);
std::optional<Findings> ReadFindings(std::span<const char> bytes, size_t classes);

// Throws unless the network's input and outputs are those that were found: what is computed of the
// outputs lies within them then.
void CheckPorts(const ov::CompiledModel& network, const Findings& findings);

}  // namespace lattice

#endif  // LATTICE_CPU_FINDINGS_H_
