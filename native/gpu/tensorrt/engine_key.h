// The keys of built engines: two engines with one key are interchangeable; and the names of their
// files.
#ifndef LATTICE_GPU_TENSORRT_ENGINE_KEY_H_
#define LATTICE_GPU_TENSORRT_ENGINE_KEY_H_

#include <string>

namespace lattice {

// An engine runs only where every field is the same as where it was built.
struct EngineKey {
  std::string model_name;        // file name without folder
  std::string model_sha256;      // of the ONNX file, hex
  std::string tensorrt_version;  // of the library that builds, all its parts
  std::string gpu_name;          // as CUDA names it
  int sm_major = 0;
  int sm_minor = 0;
  std::string precision;
  int batch = 1;        // images; an engine runs batches of this size only
  int input_width = 0;  // pixels
  int input_height = 0;
  int builder_level = 0;
  int conversion_version = 0;  // of the conversion from the ONNX file to the network
};

// MODEL_GPU_smX.Y_trtVERSION_PRECISION_HASH.engine, of letters, digits, '.', '-' and '_', below 200
// bytes: HASH, 32 hex digits, is of every field, the rest is for people. Different keys have
// different names.
std::string EngineName(const EngineKey& key);

// timing_GPU_smX.Y_trtVERSION.cache: TensorRT's timing cache serves every model of the GPU.
std::string TimingName(const EngineKey& key);

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_ENGINE_KEY_H_
