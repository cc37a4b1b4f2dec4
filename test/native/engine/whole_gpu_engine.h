// A GPU's engine with all of its batch sizes.
#ifndef LATTICE_TEST_ENGINE_WHOLE_GPU_ENGINE_H_
#define LATTICE_TEST_ENGINE_WHOLE_GPU_ENGINE_H_

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "native/gpu/gpu_engine.h"

namespace lattice {

// Each test is a process of its own, and a build takes long: scripts/gpu-check.sh names batch sizes
// and a cache, and builds before.
inline GpuEngineOptions GpuOptionsOfCheck() {
  GpuEngineOptions options;
  if (const char* folder = std::getenv("LATTICE_KEPT_DIR")) options.kept_folder = folder;
  if (const char* batches = std::getenv("LATTICE_GPU_BATCHES")) {
    options.batches.clear();
    std::istringstream text(batches);
    for (std::string batch; std::getline(text, batch, ',');) {
      options.batches.push_back(std::stoi(batch));
    }
  }
  return options;
}

inline Result<std::unique_ptr<Engine>> LoadWholeGpuEngine(const std::string& path,
                                                          const GpuEngineOptions& options,
                                                          const OnEngineBuild& on_build = nullptr) {
  auto engine = LoadGpuEngine(path, options, on_build);
  if (!engine.ok()) return engine;
  std::vector<int> batches;
  for (const BatchEngine& each : (*engine)->batches().engines) {
    if (!each.is_loaded) batches.push_back(each.batch);
  }
  const Status added = (*engine)->AddBatches(batches, on_build);
  if (!added.ok()) return added;
  return engine;
}

}  // namespace lattice

#endif  // LATTICE_TEST_ENGINE_WHOLE_GPU_ENGINE_H_
