#include "native/engine_cache/engine_header.h"
#include "test/native/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto header = lattice::ParseHeader(text);
  lattice::fuzz::Require(!header || lattice::HeaderText(*header) == text);
  return 0;
}
