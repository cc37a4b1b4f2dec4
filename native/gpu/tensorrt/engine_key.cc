#include "native/gpu/tensorrt/engine_key.h"

#include <filesystem>
#include <initializer_list>

#include "native/kept/file_name.h"

namespace lattice {
namespace {

std::string DeviceParts(const EngineKey& key) {
  return PlainPart(key.gpu_name) + "_sm" + std::to_string(key.sm_major) + "." +
         std::to_string(key.sm_minor) + "_trt" + PlainPart(key.tensorrt_version);
}

// The length in front of each value: no value can write another's.
std::string Joined(std::initializer_list<std::string> values) {
  std::string text;
  for (const std::string& value : values) text += std::to_string(value.size()) + ":" + value;
  return text;
}

}  // namespace

std::string EngineName(const EngineKey& key) {
  const std::string all = Joined(
      {key.model_name, key.model_sha256, key.tensorrt_version, key.gpu_name,
       std::to_string(key.sm_major), std::to_string(key.sm_minor), key.precision,
       std::to_string(key.batch), std::to_string(key.input_width), std::to_string(key.input_height),
       std::to_string(key.builder_level), std::to_string(key.conversion_version)});
  return PlainPart(std::filesystem::path(key.model_name).stem()) + "_" + DeviceParts(key) + "_" +
         PlainPart(key.precision) + "_" + HashPart(all) + ".engine";
}

std::string TimingName(const EngineKey& key) { return "timing_" + DeviceParts(key) + ".cache"; }

}  // namespace lattice
