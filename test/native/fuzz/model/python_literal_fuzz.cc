#include "native/model/class_names.h"
#include "native/model/python_literal.h"
#include "test/native/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto names = lattice::ParseClassNames(text);
  const auto integers = lattice::ParseIntegers(text);
  lattice::fuzz::Require(!names.ok() || !names->empty());
  lattice::fuzz::Require(!integers.ok() || !integers->empty());
  return 0;
}
