#include "native/engine_cache/engine_header.h"

#include "native/engine_cache/named_lines.h"

namespace lattice {

std::string HeaderText(const EngineHeader& header) {
  std::string text = KeyText(header.key);
  AppendLine("model_name", header.model_name, &text);
  AppendLine("created_s", header.created_s, &text);
  AppendLine("build_ms", header.build_ms, &text);
  return text;
}

std::optional<EngineHeader> ParseHeader(std::string_view text) {
  NamedLines lines(text);
  const auto key = TakeKey(&lines);
  if (!key) return std::nullopt;
  EngineHeader header;
  header.key = *key;
  header.model_name = lines.Take("model_name");
  header.created_s = lines.TakeNumber("created_s");
  header.build_ms = lines.TakeNumber("build_ms");
  if (!lines.ok() || HeaderText(header) != text) return std::nullopt;
  return header;
}

}  // namespace lattice
