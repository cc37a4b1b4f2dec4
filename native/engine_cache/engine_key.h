// What makes two built engines interchangeable.
#ifndef LATTICE_ENGINE_CACHE_ENGINE_KEY_H_
#define LATTICE_ENGINE_CACHE_ENGINE_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace lattice {

// An engine runs only where every field is the same as where it was built.
struct EngineKey {
  std::string model_sha256;      // of the ONNX file, hex
  uint32_t model_crc32 = 0;      // of the bytes that were read: the file may change after hashing
  std::string tensorrt_version;  // of the library that builds, all its parts
  std::string gpu_name;          // as CUDA names it
  int sm_major = 0;
  int sm_minor = 0;
  std::string precision;
  std::vector<int> buckets;  // batch sizes, in the order of the optimization profiles
  int input_width = 0;       // pixels
  int input_height = 0;
  int builder_level = 0;
  int conversion_version = 0;  // of the conversion from the ONNX file to the network
};

// What a stored engine says about itself.
struct EngineHeader {
  EngineKey key;
  std::string model_name;  // shown to people only
  int64_t created_s = 0;   // Unix time
  int64_t build_ms = 0;
};

// The start of HeaderText. Different keys have different texts.
std::string KeyText(const EngineKey& key);

// A JSON object, ASCII and UTF-8 as the values are; src/inference/models/engine-file.ts reads it.
std::string HeaderText(const EngineHeader& header);

// TensorRT's timing cache serves every model: it depends on the version and the GPU only.
std::string TimingText(const EngineKey& key);

// Names of the files, without their endings.
std::string EngineStem(const EngineKey& key);  // start of the model's hash, CRC of KeyText
std::string TimingStem(const EngineKey& key);

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_ENGINE_KEY_H_
