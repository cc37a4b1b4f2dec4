// Bytes that are written before they are read.
#ifndef LATTICE_BASE_BYTE_BUFFER_H_
#define LATTICE_BASE_BYTE_BUFFER_H_

#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

namespace lattice {

// Leaves elements that are made without a value as their memory is: filling megabytes that a
// decoder or a read overwrites costs about 5 % of the decoding.
template <typename T>
class UninitializedAllocator : public std::pmr::polymorphic_allocator<T> {
 public:
  using std::pmr::polymorphic_allocator<T>::polymorphic_allocator;

  template <typename U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };

  UninitializedAllocator select_on_container_copy_construction() const { return {}; }

  template <typename U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
};

// ByteBuffer(n) and resize(n) leave the new bytes uninitialized; ByteBuffer(n, value) fills them.
using ByteBuffer = std::vector<uint8_t, UninitializedAllocator<uint8_t>>;

}  // namespace lattice

#endif  // LATTICE_BASE_BYTE_BUFFER_H_
