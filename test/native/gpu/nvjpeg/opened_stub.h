// The stub library as the product opens it.
#ifndef LATTICE_TEST_GPU_NVJPEG_OPENED_STUB_H_
#define LATTICE_TEST_GPU_NVJPEG_OPENED_STUB_H_

#include <dlfcn.h>

#include <array>
#include <memory>
#include <string>

#include "native/gpu/nvjpeg/nvjpeg_library.h"
#include "test/native/gpu/nvjpeg/nvjpeg_stub.h"

namespace lattice::test {

// As set by the build: beside the test's executable.
inline const std::string kStubPath = LATTICE_NVJPEG_STUB;
inline const std::string kLackingStubPath = LATTICE_NVJPEG_LACKING_STUB;

// Set back to what a sound library answers.
inline NvJpegStub& Stub() {
  void* const library = dlopen(kStubPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Find = NvJpegStub* (*)();
  NvJpegStub* const stub = reinterpret_cast<Find>(dlsym(library, "LatticeNvJpegStub"))();
  *stub = NvJpegStub{};
  return *stub;
}

inline Result<std::unique_ptr<NvJpegLibrary>> OpenStub(const std::string& path = kStubPath) {
  const std::array<std::string, 2> names = {"libno-such-nvjpeg.so.13", path};
  return NvJpegLibrary::OpenFirst(names);
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_GPU_NVJPEG_OPENED_STUB_H_
