#include "native/model/model_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "native/model/onnx_reader.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

using test::Bytes;
using test::Number;

std::string Entry(const std::string& key, const std::string& value) {
  return Bytes(13, Bytes(1, key) + Bytes(2, value));
}

// A tensor of two floats that lie beside the model.
std::string Beside(const std::string& name, const std::string& entries) {
  return Number(1, 2) + Number(2, kFloat) + Bytes(8, name) + entries + Number(14, 1);
}

class ReadModelFileTest : public testing::Test {
 protected:
  ReadModelFileTest() { std::filesystem::create_directories(folder_ + "/deep"); }
  ~ReadModelFileTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }

  // A model with one weight at these entries.
  Result<std::string> Read(const std::string& entries) const {
    Write("m.onnx", test::GraphWriter()
                        .Initializer(Beside("w", entries))
                        .Node("Add", {"images", "w"}, {"output0"})
                        .Model());
    return ReadModelFile(folder_ + "/m.onnx");
  }

  std::string Refusal(const std::string& entries) const {
    const Result<std::string> file = Read(entries);
    EXPECT_EQ(file.status().code(), StatusCode::kInvalidModel);
    return file.status().message();
  }

  const std::string folder_ = testing::TempDir() + "model-file-" + std::to_string(getpid());
};

std::string RawOf(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST_F(ReadModelFileTest, AModelInOneFileIsItsBytes) {
  const std::string bytes = test::GraphWriter().Node("Relu", {"images"}, {"output0"}).Model();
  Write("one.onnx", bytes);
  EXPECT_EQ(*ReadModelFile(folder_ + "/one.onnx"), bytes);
}

TEST_F(ReadModelFileTest, TakesInTheWeightsBeside) {
  Write("m.onnx.data", RawOf({9, 1, 2, 3, 4}));
  const auto numbers_at = [&](const std::string& entries) {
    const Result<std::string> file = Read(entries);
    EXPECT_TRUE(file.ok()) << file.status().message();
    const auto model = ReadOnnxModel(BytesOf(*file));
    EXPECT_TRUE(model.ok()) << model.status().message();
    return *ReadFloats(model->graph.initializers.at(0));
  };
  EXPECT_EQ(
      numbers_at(Entry("location", "m.onnx.data") + Entry("offset", "4") + Entry("length", "8")),
      (std::vector<float>{1, 2}));
  EXPECT_EQ(numbers_at(Entry("location", "m.onnx.data") + Entry("offset", "12")),
            (std::vector<float>{3, 4}));
  Write("deep/w", RawOf({5, 6}));
  EXPECT_EQ(numbers_at(Entry("location", "deep/w")), (std::vector<float>{5, 6}));
}

TEST_F(ReadModelFileTest, TakesInTheWeightsOfNodesAndOfGraphsInside) {
  Write("w", RawOf({7, 8}));
  const std::string tensor = Beside("c", Entry("location", "w"));
  const std::string inside = Bytes(5, Bytes(1, "then_branch") + Bytes(6, Bytes(5, tensor)));
  Write("m.onnx", test::GraphWriter()
                      .Node("Constant", {}, {"c"}, test::TensorValue("value", tensor))
                      .Node("If", {"c"}, {"output0"}, inside)
                      .Model());
  const auto file = ReadModelFile(folder_ + "/m.onnx");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const std::string raw = Bytes(9, RawOf({7, 8}));
  const size_t first = file->find(raw);
  EXPECT_NE(file->find(raw, first + 1), std::string::npos);
  EXPECT_EQ(file->find("location"), std::string::npos);
}

TEST_F(ReadModelFileTest, NamesTheFileThatCannotBeUsed) {
  EXPECT_NE(Refusal(Entry("location", "best.onnx.data")).find("'best.onnx.data', which is missing"),
            std::string::npos);
  Write("short", RawOf({1}));
  EXPECT_NE(Refusal(Entry("location", "short") + Entry("length", "8")).find("shorter"),
            std::string::npos);
  EXPECT_NE(
      Refusal(Entry("location", "short") + Entry("offset", "99999999999999999999")).find("shorter"),
      std::string::npos);
  for (const char* outside : {"../m.onnx", "/etc/hostname", "deep/../../x"}) {
    EXPECT_NE(Refusal(Entry("location", outside)).find("outside the model's folder"),
              std::string::npos);
  }
  EXPECT_NE(Refusal(Entry("location", "deep")).find("missing"), std::string::npos);
}

TEST_F(ReadModelFileTest, NamesAGitLfsPointer) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  Write("pointer.onnx", pointer);
  EXPECT_NE(ReadModelFile(folder_ + "/pointer.onnx").status().message().find("Git LFS pointer"),
            std::string::npos);
  Write("w", pointer);
  EXPECT_NE(Refusal(Entry("location", "w")).find("'w', which is a Git LFS pointer"),
            std::string::npos);
}

}  // namespace
}  // namespace lattice
