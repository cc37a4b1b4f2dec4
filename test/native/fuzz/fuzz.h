#ifndef LATTICE_TEST_FUZZ_FUZZ_H_
#define LATTICE_TEST_FUZZ_FUZZ_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>

// libFuzzer's own change of bytes; returns the new size.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace lattice::fuzz {

// A promise that every input has to keep; libFuzzer shows the input that breaks it.
inline void Require(bool kept,
                    const std::source_location& place = std::source_location::current()) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s:%u\n", place.file_name(), static_cast<unsigned>(place.line()));
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
