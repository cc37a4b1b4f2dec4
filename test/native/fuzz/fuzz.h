#ifndef LATTICE_TEST_FUZZ_FUZZ_H_
#define LATTICE_TEST_FUZZ_FUZZ_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// libFuzzer's own change of bytes; returns the new size.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace lattice::fuzz {

// A promise that every input has to keep; libFuzzer shows the input that breaks it. The place is
// the caller's: std::source_location needs a newer clang than 14.
inline void Require(bool kept, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s:%d\n", file, line);
  std::abort();
}

// Puts other bytes in the place of the input, none where they do not fit; returns the new size.
template <typename Bytes>
size_t Replace(const Bytes& bytes, uint8_t* data, size_t max_size) {
  if (bytes.empty() || bytes.size() > max_size) return 0;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace lattice::fuzz

#endif  // LATTICE_TEST_FUZZ_FUZZ_H_
