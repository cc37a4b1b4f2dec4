// std::bit_cast, which the library of GCC 10 lacks. Packages of a release are built with that
// compiler (docs/package.md).
#ifndef LATTICE_BASE_BIT_CAST_H_
#define LATTICE_BASE_BIT_CAST_H_

#include <cstring>
#include <type_traits>

namespace lattice {

template <typename To, typename From>
To BitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  static_assert(std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

}  // namespace lattice

#endif  // LATTICE_BASE_BIT_CAST_H_
