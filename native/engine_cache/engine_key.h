// What makes two built engines interchangeable.
#ifndef LATTICE_ENGINE_CACHE_ENGINE_KEY_H_
#define LATTICE_ENGINE_CACHE_ENGINE_KEY_H_

#include <optional>
#include <string>
#include <vector>

#include "native/engine_cache/named_lines.h"

namespace lattice {

// An engine built under one key may run wherever all of it is the same, and nowhere else.
struct EngineKey {
  std::string model_sha256;      // of the ONNX file, hex
  std::string tensorrt_version;  // of the library that builds, all its parts
  std::string gpu_name;          // as CUDA names it
  int sm_major = 0;
  int sm_minor = 0;
  std::string precision;
  std::vector<int> buckets;  // batch sizes, in the order of the optimization profiles
  int input_width = 0;       // pixels
  int input_height = 0;
  int builder_level = 0;
  int conversion_version = 0;  // of our way from the ONNX file to the network

  bool operator==(const EngineKey&) const = default;
};

// One line a field. Stable: stored files of earlier builds carry it. Different keys have different
// texts.
std::string KeyText(const EngineKey& key);

// Takes the lines of KeyText off the front. Empty when something else stands there.
std::optional<EngineKey> TakeKey(NamedLines* lines);

// The first 32 hex digits of the SHA-256 of KeyText.
std::string KeyStem(const EngineKey& key);

// TensorRT's timing cache serves every model: it depends on the version and the GPU alone.
std::string TimingText(const EngineKey& key);
std::string TimingStem(const EngineKey& key);

}  // namespace lattice

#endif  // LATTICE_ENGINE_CACHE_ENGINE_KEY_H_
