// A model's network as the library runs it: compiled from its file, or kept from an earlier load.
#ifndef LATTICE_CPU_COMPILED_NETWORK_H_
#define LATTICE_CPU_COMPILED_NETWORK_H_

#include <memory>
#include <openvino/openvino.hpp>
#include <string>

#include "native/base/scoped_fd.h"
#include "native/base/status.h"
#include "native/cpu/network_traits.h"
#include "native/cpu/openvino_core.h"
#include "native/engine/engine.h"
#include "native/model/model_info.h"

namespace lattice {

// Compiling again for other threads would repeat the library's work on the graph, which takes four
// times as long as loading what it came to, and up to seconds for a quantised network. Thread-safe.
class CompiledNetwork {
 public:
  enum class Source { kKeptOrFile, kFile };

  // Fails with the codes of OpenVinoNetwork::Load. With a folder in `options` the network and its
  // traits are kept there, and a later load reads them: info().was_kept is true then, and the
  // library may refuse the network that it wrote earlier (OpenVinoNetwork::Make then loads with
  // kFile). A damaged file is compiled anew and
  // replaced, which info().replaced tells. An unusable folder counts as none. Throws what the
  // library throws.
  static Result<CompiledNetwork> Load(const std::string& path, const EngineOptions& options,
                                      Source source = Source::kKeptOrFile);

  const ModelInfo& info() const { return info_; }
  size_t file_bytes() const { return file_bytes_; }
  // The kept file is not removed while this is held.
  std::shared_ptr<const ScopedFd> in_use() const { return in_use_; }

  // The network with threads of its own. All networks of one object share one copy of the constants
  // and give the same numbers. Throws what the library throws, and when a kept network does not
  // have the shapes of its traits.
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
