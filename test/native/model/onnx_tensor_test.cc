#include "native/model/onnx_tensor.h"

#include <gtest/gtest.h>

#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

using test::Number;

std::string Head(const std::vector<int64_t>& dims, int type) {
  std::string head;
  for (const int64_t dim : dims) head += Number(1, static_cast<uint64_t>(dim));
  return head + Number(2, static_cast<uint64_t>(type)) + test::Bytes(8, "t");
}

Result<OnnxTensor> Read(const std::string& bytes) { return ReadTensor(BytesOf(bytes)); }

TEST(OnnxTensorTest, ReadsRawAndTypedFloats) {
  const std::vector<float> values = {1.5f, -2.0f, 65504.0f};
  std::string packed(12, '\0');
  std::memcpy(packed.data(), values.data(), 12);
  std::string single;
  for (size_t i = 0; i < 3; ++i) single += test::Varint(4 << 3 | 5) + packed.substr(4 * i, 4);
  for (const std::string& numbers : {test::Bytes(9, packed), test::Bytes(4, packed), single}) {
    const std::string bytes = Head({3}, kFloat) + numbers;
    EXPECT_EQ(*ReadFloats(*Read(bytes)), values);
  }
  // FLOAT16 in int32_data: its bits, as integers.
  const std::string halves =
      Head({2}, kFloat16) + test::Bytes(5, test::Varint(0x3e00) + test::Varint(0xc000));
  EXPECT_EQ(*ReadFloats(*Read(halves)), (std::vector<float>{1.5f, -2.0f}));
}

TEST(OnnxTensorTest, RefusesDataThatDoesNotFillTheShape) {
  const std::string raw = test::Bytes(9, std::string(8, '\0'));
  EXPECT_TRUE(ReadFloats(*Read(Head({2}, kFloat) + raw)).ok());
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
           {3}, {1}, {-2}, {int64_t{1} << 40}, {int64_t{1} << 62, 8}, {}}) {
    EXPECT_EQ(ReadFloats(*Read(Head(dims, kFloat) + raw)).status().code(),
              StatusCode::kInvalidModel);
  }
  EXPECT_FALSE(ReadFloats(*Read(Head({1}, kDouble) + raw)).ok());
  EXPECT_FALSE(Read(Head(std::vector<int64_t>(65, 1), kFloat) + raw).ok());
}

TEST(OnnxTensorTest, RefusesDataInOtherFiles) {
  const auto external = Read(Head({2}, kFloat) + Number(14, 1));
  EXPECT_NE(external.status().message().find("damaged"), std::string::npos);
  EXPECT_FALSE(Read(Head({2}, kFloat) + test::Bytes(13, "")).ok());
}

TEST(OnnxTensorTest, OtherNumbersKeepTheRest) {
  const std::string documentation = test::Bytes(12, "why");
  const std::string bytes =
      Head({2}, kFloat) + documentation + test::Bytes(9, std::string(8, '\0'));
  const auto tensor = Read(bytes);
  const OnnxTensor half = WithHalves(*tensor, "h", {1.0f, 2.0f});
  EXPECT_EQ(half.message.text(), Number(1, 2) + Number(2, 10) + test::Bytes(8, "h") +
                                     test::Bytes(9, std::string("\x00\x3c\x00\x40", 4)) +
                                     documentation);
  EXPECT_EQ(*ReadFloats(half), (std::vector<float>{1.0f, 2.0f}));
  EXPECT_EQ(*ReadFloats(WithFloats(half, "f", {1e9f, 2})), (std::vector<float>{1e9f, 2}));
}

}  // namespace
}  // namespace lattice
