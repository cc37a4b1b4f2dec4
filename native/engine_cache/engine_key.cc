#include "native/engine_cache/engine_key.h"

#include <cstdio>

#include "native/engine_cache/crc32.h"

namespace lattice {
namespace {

constexpr size_t kShownHashDigits = 12;

std::string Hex(uint32_t value) {
  char digits[9];
  (void)std::snprintf(digits, sizeof digits, "%08x", value);
  return digits;
}

// A JSON string.
std::string Quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) < ' ') {
      text += "\\u" + Hex(static_cast<uint32_t>(c)).substr(4);
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string Listed(const std::vector<int>& numbers) {
  std::string text = "[";
  for (const int number : numbers) {
    if (text.size() > 1) text += ',';
    text += std::to_string(number);
  }
  return text + "]";
}

}  // namespace

std::string TimingText(const EngineKey& key) {
  const std::string sm = std::to_string(key.sm_major) + "." + std::to_string(key.sm_minor);
  return "{\"tensorrt_version\":" + Quoted(key.tensorrt_version) +
         ",\"gpu_name\":" + Quoted(key.gpu_name) + ",\"sm\":" + Quoted(sm);
}

std::string KeyText(const EngineKey& key) {
  return TimingText(key) + ",\"model_sha256\":" + Quoted(key.model_sha256) +
         ",\"model_crc32\":" + Quoted(Hex(key.model_crc32)) +
         ",\"precision\":" + Quoted(key.precision) + ",\"buckets\":" + Listed(key.buckets) +
         ",\"input\":" + Listed({key.input_width, key.input_height}) +
         ",\"builder_level\":" + std::to_string(key.builder_level) +
         ",\"conversion_version\":" + std::to_string(key.conversion_version);
}

std::string HeaderText(const EngineHeader& header) {
  return KeyText(header.key) + ",\"model_name\":" + Quoted(header.model_name) +
         ",\"created_s\":" + std::to_string(header.created_s) +
         ",\"build_ms\":" + std::to_string(header.build_ms) + "}";
}

std::string EngineStem(const EngineKey& key) {
  return key.model_sha256.substr(0, kShownHashDigits) + "-" + Hex(Crc32(KeyText(key)));
}

std::string TimingStem(const EngineKey& key) { return "timing-" + Hex(Crc32(TimingText(key))); }

}  // namespace lattice
