// The engine for machines without a GPU: letterbox, OpenVINO and box decode on the CPU.
#ifndef LATTICE_CPU_CPU_ENGINE_H_
#define LATTICE_CPU_CPU_ENGINE_H_

#include <memory>
#include <string>

#include "native/engine/engine.h"

namespace lattice {

// Fails with the codes of OpenVinoNetwork::Load.
Result<std::unique_ptr<Engine>> LoadCpuEngine(const std::string& path,
                                              const EngineOptions& options);

}  // namespace lattice

#endif  // LATTICE_CPU_CPU_ENGINE_H_
