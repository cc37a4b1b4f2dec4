// A model's network as the library runs it: compiled from its file, or kept from an earlier load.
#ifndef LATTICE_CPU_COMPILED_NETWORK_H_
#define LATTICE_CPU_COMPILED_NETWORK_H_

#include <memory>
#include <openvino/openvino.hpp>
#include <string>

#include "native/base/scoped_fd.h"
#include "native/base/status.h"
#include "native/cpu/findings.h"
#include "native/cpu/openvino_core.h"
#include "native/engine/engine.h"
#include "native/model/model_info.h"

namespace lattice {

// Compiling again for other threads would repeat the library's work on the graph, which takes four
// times as long as loading what it came to, and up to seconds for a quantised network. Thread-safe.
class CompiledNetwork {
 public:
  enum class Source { kKeptOrFile, kFile };

  // Codes of OpenVinoNetwork::Load. With a folder for them the network is kept there, with what
  // reading the model has found, and a later load takes it from there: info().was_kept, and the
  // library may refuse what it has once written: OpenVinoNetwork::Make then loads with kFile. What
  // is not as it was stored is compiled anew and replaced; info().replaced says so. An unusable
  // folder is none. Throws what the library throws.
  static Result<CompiledNetwork> Load(const std::string& path, const EngineOptions& options,
                                      Source source = Source::kKeptOrFile);

  const ModelInfo& info() const { return info_; }
  size_t file_bytes() const { return file_bytes_; }
  // While it is held the kept file stays.
  std::shared_ptr<const ScopedFd> in_use() const { return in_use_; }

  // The network with threads of its own; all of them read their constants from one copy and give
  // the same numbers. Throws what the library throws, and for a kept network that is not what was
  // found in the model.
  ov::CompiledModel WithStreams(int threads, int streams) const;

 private:
  CompiledNetwork() = default;

  ModelInfo info_;
  CpuPrecision precision_;
  ov::Tensor exported_;
  std::shared_ptr<const ScopedFd> in_use_;
  size_t file_bytes_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_CPU_COMPILED_NETWORK_H_
