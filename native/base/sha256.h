// SHA-256 (FIPS 180-4). It is here because no library of the addon gives it to the layers above
// `base`, and because the keys and checksums of stored engines need no more than this.
#ifndef LATTICE_BASE_SHA256_H_
#define LATTICE_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lattice {

using Sha256Digest = std::array<uint8_t, 32>;

// kFastest takes the CPU's SHA instructions where it has them (x86-64 only).
enum class Sha256Code { kFastest, kPortable };

class Sha256 {
 public:
  explicit Sha256(Sha256Code code = Sha256Code::kFastest);
  void Update(std::span<const char> bytes);
  // Once, last.
  Sha256Digest Finish();

 private:
  void Compress(const uint8_t* blocks, size_t count);

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> partial_;
  uint64_t bytes_ = 0;
  bool use_instructions_;
};

Sha256Digest Sha256Of(std::span<const char> bytes);

// 64 lower-case digits.
std::string Hex(const Sha256Digest& digest);

}  // namespace lattice

#endif  // LATTICE_BASE_SHA256_H_
