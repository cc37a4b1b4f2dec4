// A model's network as the library runs it: compiled from its file, or kept from an earlier load.
#ifndef LATTICE_CPU_COMPILED_NETWORK_H_
#define LATTICE_CPU_COMPILED_NETWORK_H_

#include <openvino/openvino.hpp>
#include <string>

#include "native/base/status.h"
#include "native/cpu/openvino_core.h"
#include "native/engine/engine.h"
#include "native/model/model_info.h"

namespace lattice {

// Compiling again for other threads would repeat the library's work on the graph, which takes four
// times as long as loading what it came to, and up to seconds for a quantised network. Thread-safe.
class CompiledNetwork {
 public:
  enum class Source { kCacheOrFile, kFile };

  // Codes of OpenVinoNetwork::Load. With a cache folder the network is kept there, with what
  // reading the model has found, and a later load takes it from there; an unusable folder is none.
  // Throws what the library throws.
  static Result<CompiledNetwork> Load(const std::string& path, const EngineOptions& options,
                                      Source source = Source::kCacheOrFile);

  // All but memory_bytes.
  const ModelInfo& info() const { return info_; }
  size_t file_bytes() const { return file_bytes_; }
  // It comes from the cache: the library may refuse what it has once written.
  bool was_kept() const { return was_kept_; }

  // The network with threads of its own; all of them read their constants from one copy and give
  // the same numbers. Throws what the library throws.
  ov::CompiledModel WithStreams(int threads, int streams) const;

 private:
  CompiledNetwork() = default;

  ModelInfo info_;
  CpuPrecision precision_;
  ov::Tensor exported_;
  size_t file_bytes_ = 0;
  bool was_kept_ = false;
};

}  // namespace lattice

#endif  // LATTICE_CPU_COMPILED_NETWORK_H_
