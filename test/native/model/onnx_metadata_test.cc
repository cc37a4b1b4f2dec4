#include "native/model/onnx_metadata.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace lattice {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes TinyModel() {
  std::ifstream file(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Field 7 (graph) of length 0.
const Bytes kEmptyGraph = {7 << 3 | 2, 0};

Bytes Joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(ReadOnnxMetadataTest, ReadsTheTinyModel) {
  const auto metadata = ReadOnnxMetadata(TinyModel());
  ASSERT_TRUE(metadata.ok()) << metadata.status().message();
  EXPECT_EQ(metadata->at("task"), "detect");
  EXPECT_NE(metadata->at("names").find("'car'"), std::string::npos);
}

TEST(ReadOnnxMetadataTest, LastOfTwoEqualKeysWins) {
  const Bytes first = {14 << 3 | 2, 6, 0x0a, 1, 'k', 0x12, 1, 'a'};
  const Bytes second = {14 << 3 | 2, 6, 0x0a, 1, 'k', 0x12, 1, 'b'};
  const auto metadata = ReadOnnxMetadata(Joined({first, kEmptyGraph, second}));
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->at("k"), "b");
}

TEST(ReadOnnxMetadataTest, RefusesWhatIsNoModel) {
  const Bytes png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13};
  const Bytes text = {'n', 'o', ' ', 'm', 'o', 'd', 'e', 'l', '\n'};
  const Bytes no_graph = {14 << 3 | 2, 6, 0x0a, 1, 'k', 0x12, 1, 'a'};
  const Bytes endless_varint(20, 0xff);
  const Bytes huge_length = {7 << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff,
                             0xff,       0xff, 0xff, 0xff, 0x01};
  const Bytes field_zero = {0, 0};
  for (const Bytes& bytes :
       {Bytes{}, png, text, no_graph, endless_varint, huge_length, field_zero}) {
    EXPECT_EQ(ReadOnnxMetadata(bytes).status().code(), StatusCode::kInvalidModel);
  }
}

class DescribeModelFileTest : public testing::Test {
 protected:
  Result<ModelDescription> Described(const Bytes& bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return DescribeModelFile(path_);
  }
  const std::string path_ = testing::TempDir() + "described-" + std::to_string(getpid()) + ".onnx";
  ~DescribeModelFileTest() override { unlink(path_.c_str()); }
};

TEST_F(DescribeModelFileTest, IsWhatReadOnnxMetadataFinds) {
  const Bytes whole = TinyModel();
  const auto described = Described(whole);
  ASSERT_TRUE(described.ok()) << described.status().message();
  EXPECT_EQ(described->metadata, *ReadOnnxMetadata(whole));
  EXPECT_EQ(described->names, (std::vector<std::string>{"car", "motorcycle", "bus", "truck"}));
  // Fields of every type, and a file that names no classes.
  const Bytes others = {1 << 3, 8, 2 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 3 << 3 | 5, 1, 2, 3, 4};
  const Bytes entry = {14 << 3 | 2, 6, 0x0a, 1, 'k', 0x12, 1, 'a'};
  const auto plain = Described(Joined({others, kEmptyGraph, entry}));
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ(plain->metadata.at("k"), "a");
  EXPECT_TRUE(plain->names.empty());
}

TEST_F(DescribeModelFileTest, RefusesWhatReadOnnxMetadataRefuses) {
  const Bytes whole = TinyModel();
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Bytes bytes(whole.begin(),
                whole.begin() + static_cast<std::ptrdiff_t>(random() % whole.size()));
    if (round % 2 == 0) bytes.assign(whole.end() - 2000, whole.end());
    for (int i = 0; i < round % 5 && !bytes.empty(); ++i) {
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    }
    EXPECT_EQ(Described(bytes).ok(), ReadOnnxMetadata(bytes).ok()) << round;
  }
}

TEST_F(DescribeModelFileTest, NeedsAFile) {
  EXPECT_EQ(DescribeModelFile("/nonexistent.onnx").status().code(), StatusCode::kUnknownModel);
  EXPECT_EQ(DescribeModelFile("/").status().code(), StatusCode::kInvalidModel);
}

// Every prefix is either refused or ends exactly between two fields behind the graph.
TEST(ReadOnnxMetadataTest, SurvivesEveryCut) {
  const Bytes whole = TinyModel();
  ASSERT_FALSE(whole.empty());
  size_t accepted = 0;
  for (size_t size = 0; size < whole.size();
       size += size < whole.size() - 2000 ? size_t{997} : size_t{1}) {
    // An exact copy, so that a sanitizer sees a read past its end.
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    if (ReadOnnxMetadata(cut).ok()) ++accepted;
  }
  EXPECT_LT(accepted, 40u);
}

TEST(ReadOnnxMetadataTest, SurvivesRandomDamage) {
  const Bytes whole = TinyModel();
  const Bytes tail(
      whole.end() - std::min<std::ptrdiff_t>(4000, static_cast<std::ptrdiff_t>(whole.size())),
      whole.end());
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    Bytes damaged = round % 2 == 0 ? whole : tail;
    if (damaged.size() > 20'000) damaged = tail;
    for (int i = 0; i < 8; ++i) damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    const auto metadata = ReadOnnxMetadata(damaged);
    if (!metadata.ok()) {
      EXPECT_EQ(metadata.status().code(), StatusCode::kInvalidModel);
    }
  }
}

}  // namespace
}  // namespace lattice
