// nvJPEG's functions that ask about the library, a GPU's engines and a file: the host's alone.
#include "test/native/simulated_cuda/simulated_gpus.h"
#include "test/native/simulated_nvjpeg/handles.h"

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

using lattice::simulated::EnginesTake;
using lattice::simulated::JpegEngines;
using lattice::simulated::PictureHeader;
using lattice::simulated::ReadPictureHeader;

SIMULATED_EXPORT nvjpegStatus_t nvjpegGetHardwareDecoderInfo(nvjpegHandle_t handle,
                                                             unsigned* engines, unsigned* cores) {
  *engines = JpegEngines(handle->gpu);
  *cores = *engines > 0 ? 1 : 0;
  return NVJPEG_STATUS_SUCCESS;
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegJpegStreamCreate(nvjpegHandle_t, nvjpegJpegStream_t* stream) {
  *stream = new nvjpegJpegStream();
  return NVJPEG_STATUS_SUCCESS;
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegJpegStreamDestroy(nvjpegJpegStream_t stream) {
  delete stream;
  return NVJPEG_STATUS_SUCCESS;
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegJpegStreamParseHeader(nvjpegHandle_t handle,
                                                            const unsigned char* data,
                                                            size_t length,
                                                            nvjpegJpegStream_t stream) {
  if (!handle->is_current()) return NVJPEG_STATUS_EXECUTION_FAILED;
  PictureHeader header;
  const nvjpegStatus_t read = ReadPictureHeader({data, length}, &header);
  stream->header.reset();
  if (read == NVJPEG_STATUS_SUCCESS) stream->header = header;
  return read;
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegJpegStreamGetFrameDimensions(nvjpegJpegStream_t stream,
                                                                   unsigned* width,
                                                                   unsigned* height) {
  if (!stream->header) return NVJPEG_STATUS_INVALID_PARAMETER;
  *width = stream->header->width;
  *height = stream->header->height;
  return NVJPEG_STATUS_SUCCESS;
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegJpegStreamGetChromaSubsampling(
    nvjpegJpegStream_t stream, nvjpegChromaSubsampling_t* sampling) {
  if (!stream->header) return NVJPEG_STATUS_INVALID_PARAMETER;
  *sampling = stream->header->sampling;
  return NVJPEG_STATUS_SUCCESS;
}

// 0 for a file that is supported.
SIMULATED_EXPORT nvjpegStatus_t nvjpegDecodeBatchedSupported(nvjpegHandle_t handle,
                                                             nvjpegJpegStream_t stream,
                                                             int* unsupported) {
  if (!stream->header || !handle->is_current()) return NVJPEG_STATUS_INVALID_PARAMETER;
  *unsupported = EnginesTake(*stream->header) ? 0 : 1;
  return NVJPEG_STATUS_SUCCESS;
}
