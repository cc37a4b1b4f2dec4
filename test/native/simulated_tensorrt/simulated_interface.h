// TensorRT's classes are shells around interfaces of its library, with hundreds of functions that
// differ from version to version. Only the few functions that the engine calls are simulated; a
// call of any other one ends the process with a message.
#ifndef LATTICE_TEST_SIMULATED_TENSORRT_SIMULATED_INTERFACE_H_
#define LATTICE_TEST_SIMULATED_TENSORRT_SIMULATED_INTERFACE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <typeinfo>

namespace lattice::simulated {

// A table of virtual functions, as the Itanium ABI lays it out, by name of the function.
template <typename Interface>
class SimulatedTable {
 public:
  SimulatedTable() { entries_.fill(reinterpret_cast<void*>(&NotSimulated)); }

  // `body` takes the object as its first argument.
  template <typename R, typename... Arguments, typename Body>
  void Simulate(R (Interface::*function)(Arguments...) noexcept, Body body) {
    R (*plain)(void*, Arguments...) = body;
    entries_[IndexOf(function)] = reinterpret_cast<void*>(plain);
  }
  template <typename R, typename... Arguments, typename Body>
  void Simulate(R (Interface::*function)(Arguments...) const noexcept, Body body) {
    R (*plain)(void*, Arguments...) = body;
    entries_[IndexOf(function)] = reinterpret_cast<void*>(plain);
  }

  // The destructor that `delete` calls, where the interface declares it right behind `function`.
  template <typename Function>
  void SimulateDeletion(Function function, void (*body)(void*)) {
    entries_[IndexOf(function) + 2] = reinterpret_cast<void*>(body);
  }

  void* const* first() const { return entries_.data(); }

 private:
  static constexpr size_t kMostFunctions = 256;

  static void NotSimulated() {
    std::fprintf(stderr, "The simulated TensorRT lacks a function of %s that was called.\n",
                 typeid(Interface).name());
    std::abort();
  }

  template <typename Function>
  static size_t IndexOf(Function function) {
    struct {
      uintptr_t pointer;
      ptrdiff_t adjustment;
    } parts;
    static_assert(sizeof parts == sizeof function);
    std::memcpy(&parts, &function, sizeof parts);
#ifdef __aarch64__
    return parts.pointer / sizeof(void*);
#else
    return (parts.pointer - 1) / sizeof(void*);
#endif
  }

  std::array<void*, kMostFunctions> entries_{};
};

// The object whose table it is; `Owner` is what the bodies work on.
template <typename Interface, typename Owner>
class Simulated {
 public:
  Simulated(const SimulatedTable<Interface>& table, Owner* owner)
      : table_(table.first()), owner_(owner) {}

  Interface* get() { return reinterpret_cast<Interface*>(this); }
  static Owner& OwnerOf(void* self) { return *static_cast<Simulated*>(self)->owner_; }

 private:
  void* const* table_;  // first, where the compiler looks for it
  Owner* owner_;
};

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_TENSORRT_SIMULATED_INTERFACE_H_
