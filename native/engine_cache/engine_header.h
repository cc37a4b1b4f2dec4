// What a stored engine says about itself. src/inference/models/engine-file.ts reads the same text.
#ifndef LATTICE_ENGINE_CACHE_ENGINE_HEADER_H_
#define LATTICE_ENGINE_CACHE_ENGINE_HEADER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "native/engine_cache/engine_key.h"

namespace lattice {

struct EngineHeader {
  EngineKey key;
  std::string model_name;  // for people; the key's digest is what counts
  int64_t created_s = 0;   // Unix time
  int64_t build_ms = 0;

  bool operator==(const EngineHeader&) const = default;
};

// KeyText, then model_name, created_s and build_ms, a line each.
std::string HeaderText(const EngineHeader& header);

// Empty for anything but what HeaderText writes.
std::optional<EngineHeader> ParseHeader(std::string_view text);

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_ENGINE_HEADER_H_
