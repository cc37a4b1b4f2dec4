// A library with nvJPEG's functions that decodes nothing. LATTICE_STUB_LACKS_BATCHES leaves one
// out.
#include "test/native/gpu/nvjpeg/nvjpeg_stub.h"

#define STUB extern "C" __attribute__((visibility("default")))

namespace {

lattice::test::NvJpegStub stub;
char handle;

template <typename Handle>
nvjpegStatus_t Make(Handle* made) {
  ++stub.open_handles;
  *made = reinterpret_cast<Handle>(&handle);
  return NVJPEG_STATUS_SUCCESS;
}

nvjpegStatus_t Drop() {
  --stub.open_handles;
  return NVJPEG_STATUS_SUCCESS;
}

}  // namespace

STUB lattice::test::NvJpegStub* LatticeNvJpegStub() { return &stub; }

STUB nvjpegStatus_t nvjpegCreateEx(nvjpegBackend_t backend, nvjpegDevAllocator_t*,
                                   nvjpegPinnedAllocator_t*, unsigned flags, nvjpegHandle_t* made) {
  stub.backend = backend;
  stub.flags = flags;
  return stub.create == NVJPEG_STATUS_SUCCESS ? Make(made) : stub.create;
}
STUB nvjpegStatus_t nvjpegDestroy(nvjpegHandle_t) { return Drop(); }
STUB nvjpegStatus_t nvjpegGetHardwareDecoderInfo(nvjpegHandle_t, unsigned* engines,
                                                 unsigned* cores) {
  *engines = stub.engines;
  *cores = 1;
  return stub.engine_info;
}
STUB nvjpegStatus_t nvjpegJpegStateCreate(nvjpegHandle_t, nvjpegJpegState_t* made) {
  return Make(made);
}
STUB nvjpegStatus_t nvjpegJpegStateDestroy(nvjpegJpegState_t) { return Drop(); }
STUB nvjpegStatus_t nvjpegJpegStreamCreate(nvjpegHandle_t, nvjpegJpegStream_t* made) {
  return Make(made);
}
STUB nvjpegStatus_t nvjpegJpegStreamDestroy(nvjpegJpegStream_t) { return Drop(); }
STUB nvjpegStatus_t nvjpegJpegStreamParseHeader(nvjpegHandle_t, const unsigned char*, size_t,
                                                nvjpegJpegStream_t) {
  if (stub.while_parsing != nullptr) stub.while_parsing();
  return stub.parse;
}
STUB nvjpegStatus_t nvjpegJpegStreamGetFrameDimensions(nvjpegJpegStream_t, unsigned* width,
                                                       unsigned* height) {
  *width = stub.width;
  *height = stub.height;
  return NVJPEG_STATUS_SUCCESS;
}
STUB nvjpegStatus_t nvjpegJpegStreamGetChromaSubsampling(nvjpegJpegStream_t,
                                                         nvjpegChromaSubsampling_t* sampling) {
  *sampling = stub.sampling;
  return NVJPEG_STATUS_SUCCESS;
}
STUB nvjpegStatus_t nvjpegDecodeBatchedSupported(nvjpegHandle_t, nvjpegJpegStream_t,
                                                 int* unsupported) {
  *unsupported = stub.unsupported;
  return NVJPEG_STATUS_SUCCESS;
}
STUB nvjpegStatus_t nvjpegDecodeBatchedPreAllocate(nvjpegHandle_t, nvjpegJpegState_t, int, int, int,
                                                   nvjpegChromaSubsampling_t,
                                                   nvjpegOutputFormat_t) {
  return NVJPEG_STATUS_SUCCESS;
}
STUB nvjpegStatus_t nvjpegDecodeBatchedInitialize(nvjpegHandle_t, nvjpegJpegState_t, int, int,
                                                  nvjpegOutputFormat_t) {
  return NVJPEG_STATUS_SUCCESS;
}
#ifndef LATTICE_STUB_LACKS_BATCHES
STUB nvjpegStatus_t nvjpegDecodeBatched(nvjpegHandle_t, nvjpegJpegState_t,
                                        const unsigned char* const*, const size_t*, nvjpegImage_t*,
                                        cudaStream_t) {
  return NVJPEG_STATUS_SUCCESS;
}
#endif
