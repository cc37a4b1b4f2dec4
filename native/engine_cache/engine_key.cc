#include "native/engine_cache/engine_key.h"

#include <limits>
#include <string_view>

#include "native/base/sha256.h"

namespace lattice {
namespace {

constexpr size_t kStemDigits = 32;

std::string StemOf(std::string_view text) { return Hex(Sha256Of(text)).substr(0, kStemDigits); }

std::string Joined(const std::vector<int>& numbers, char separator) {
  std::string text;
  for (const int number : numbers) {
    if (!text.empty()) text += separator;
    text += std::to_string(number);
  }
  return text;
}

std::optional<std::vector<int>> Split(std::string_view text, char separator) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    const auto number = WholeNumber(text.substr(0, end));
    if (!number || *number < std::numeric_limits<int>::min() ||
        *number > std::numeric_limits<int>::max()) {
      return std::nullopt;
    }
    numbers.push_back(static_cast<int>(*number));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return numbers;
}

// Of exactly `count` numbers; zeros when it is something else, which TakeKey finds at its end.
std::vector<int> TakeNumbers(NamedLines* lines, std::string_view name, char separator,
                             size_t count) {
  const auto numbers = Split(lines->Take(name), separator);
  return numbers && numbers->size() == count ? *numbers : std::vector<int>(count, 0);
}

}  // namespace

std::string KeyText(const EngineKey& key) {
  std::string text;
  AppendLine("model_sha256", key.model_sha256, &text);
  AppendLine("tensorrt_version", key.tensorrt_version, &text);
  AppendLine("gpu_name", key.gpu_name, &text);
  AppendLine("sm", Joined({key.sm_major, key.sm_minor}, '.'), &text);
  AppendLine("precision", key.precision, &text);
  AppendLine("buckets", Joined(key.buckets, ','), &text);
  AppendLine("input", Joined({key.input_width, key.input_height}, 'x'), &text);
  AppendLine("builder_level", key.builder_level, &text);
  AppendLine("conversion_version", key.conversion_version, &text);
  return text;
}

std::optional<EngineKey> TakeKey(NamedLines* lines) {
  const std::string_view before = lines->rest();
  EngineKey key;
  key.model_sha256 = lines->Take("model_sha256");
  key.tensorrt_version = lines->Take("tensorrt_version");
  key.gpu_name = lines->Take("gpu_name");
  const auto sm = TakeNumbers(lines, "sm", '.', 2);
  key.sm_major = sm[0];
  key.sm_minor = sm[1];
  key.precision = lines->Take("precision");
  const auto buckets = Split(lines->Take("buckets"), ',');
  if (buckets) key.buckets = *buckets;
  const auto input = TakeNumbers(lines, "input", 'x', 2);
  key.input_width = input[0];
  key.input_height = input[1];
  key.builder_level = static_cast<int>(lines->TakeNumber("builder_level"));
  key.conversion_version = static_cast<int>(lines->TakeNumber("conversion_version"));
  // Numbers have one spelling: what would be written differently was not written here.
  if (!lines->ok() || !before.starts_with(KeyText(key))) return std::nullopt;
  return key;
}

std::string KeyStem(const EngineKey& key) { return StemOf(KeyText(key)); }

std::string TimingText(const EngineKey& key) {
  std::string text;
  AppendLine("tensorrt_version", key.tensorrt_version, &text);
  AppendLine("gpu_name", key.gpu_name, &text);
  AppendLine("sm", Joined({key.sm_major, key.sm_minor}, '.'), &text);
  return text;
}

std::string TimingStem(const EngineKey& key) { return StemOf(TimingText(key)); }

}  // namespace lattice
