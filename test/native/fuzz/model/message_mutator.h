// Changes protobuf messages field by field: a changed byte alone breaks some length nearly always.
#ifndef LATTICE_TEST_FUZZ_MODEL_MESSAGE_MUTATOR_H_
#define LATTICE_TEST_FUZZ_MODEL_MESSAGE_MUTATOR_H_

#include <random>
#include <string>
#include <vector>

#include "native/model/protobuf_wire.h"
#include "test/native/fuzz/fuzz.h"

namespace lattice::fuzz {

// Empty where the bytes are no message; a text is taken for one now and then.
inline std::vector<WireField> FieldsOf(ByteView bytes) {
  std::vector<WireField> fields;
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return {};
    fields.push_back(*field);
  }
  return fields;
}

inline std::string MutatedText(std::string_view text) {
  std::string bytes(text);
  bytes.resize(text.size() + 16);
  auto* data = reinterpret_cast<uint8_t*>(bytes.data());
  bytes.resize(LLVMFuzzerMutate(data, text.size(), bytes.size()));
  return bytes;
}

// One field, at whatever depth, is removed, doubled, moved, given another's content or changed.
inline std::string MutatedMessage(std::string_view message, std::minstd_rand& random) {
  constexpr uint64_t kOdd[] = {0, 1, 2, 3, 7, 10, 127, ~uint64_t{0}, uint64_t{1} << 63};
  const std::vector<WireField> fields = FieldsOf(BytesOf(message));
  if (fields.empty()) return MutatedText(message);
  std::vector<std::string> parts;
  for (const WireField& field : fields) parts.emplace_back(TextOf(field.whole));
  const WireField& field = fields[random() % fields.size()];
  const WireField& other = fields[random() % fields.size()];
  std::string& part = parts[static_cast<size_t>(&field - fields.data())];
  const unsigned kind = random() % 16;
  if (kind == 0) {
    part.clear();
  } else if (kind == 1) {
    part += part;
  } else if (kind == 2) {
    std::swap(part, parts[static_cast<size_t>(&other - fields.data())]);
  } else if (field.delimited()) {
    part.clear();
    AppendBytes(part, field.number,
                kind == 3 ? TextOf(other.bytes) : MutatedMessage(TextOf(field.bytes), random));
  } else if (field.varint()) {
    part.clear();
    AppendNumber(part, field.number, kind < 8 ? field.value + 1 : kOdd[random() % 9]);
  }
  std::string out;
  for (const std::string& each : parts) out += each;
  return out;
}

}  // namespace lattice::fuzz

#endif  // LATTICE_TEST_FUZZ_MODEL_MESSAGE_MUTATOR_H_
