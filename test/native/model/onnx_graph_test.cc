#include "native/model/onnx_graph.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <random>

#include "native/model/onnx_reader.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

std::vector<std::filesystem::path> Models() {
  std::vector<std::filesystem::path> found;
  for (const char* folder : {"/models", "/../shared/testdata/models"}) {
    const std::filesystem::path root = LATTICE_SOURCE_DIR + std::string(folder);
    if (!std::filesystem::exists(root)) {
      std::cout << "left out: there is no " << root << "\n";
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".onnx") found.push_back(entry.path());
    }
  }
  return found;
}

TEST(OnnxGraphTest, RealModelsComeBackByteForByte) {
  const auto models = Models();
  ASSERT_FALSE(models.empty());
  for (const auto& path : models) {
    const std::string bytes = test::FileBytes(path);
    const auto model = ReadOnnxModel(BytesOf(bytes));
    ASSERT_TRUE(model.ok()) << path << model.status().message();
    EXPECT_FALSE(model->graph.nodes.empty());
    EXPECT_TRUE(WriteOnnxModel(*model) == bytes) << path;
  }
}

TEST(OnnxGraphTest, KeepsWhatItDoesNotRead) {
  const std::string graph = test::Bytes(1, test::Bytes(4, "Relu") + test::Bytes(6, "doc")) +
                            test::Bytes(10, "graph doc") + test::Bytes(14, "annotation") +
                            test::Number(99, 5);
  const std::string bytes = test::Bytes(25, "function") + test::Number(1, 8) +
                            test::Bytes(7, graph) + test::Bytes(14, "metadata") +
                            test::Number(1000, 7);
  EXPECT_EQ(WriteOnnxModel(*ReadOnnxModel(BytesOf(bytes))), bytes);
}

TEST(OnnxGraphTest, WritesChangesAndNothingElse) {
  const std::string bytes = test::GraphWriter()
                                .Node("Cast", {"images"}, {"output0"}, test::Integer("to", 1))
                                .ValueInfo("output0", 1)
                                .Model();
  auto model = *ReadOnnxModel(BytesOf(bytes));
  model.graph.nodes[0].Set(IntegerAttribute("to", 10));
  model.graph.value_info[0].SetType(10);
  model.graph.inputs[0].SetType(10);
  const std::string expected = test::GraphWriter()
                                   .Node("Cast", {"images"}, {"output0"}, test::Integer("to", 10))
                                   .ValueInfo("output0", 10)
                                   .Model(10);
  EXPECT_EQ(WriteOnnxModel(model), expected);
}

TEST(OnnxGraphTest, ClosesOpenSizesAndNoOthers) {
  const std::string bytes = test::ReshapeModel({-1, 3, 6, 6}, {0, 0, 6, 6}, {}, kFloat16);
  auto model = *ReadOnnxModel(BytesOf(bytes));
  OnnxValueInfo& input = model.graph.inputs[0];
  input.CloseShape({});
  input.CloseShape({-1, 5, 7, 7});
  EXPECT_EQ(WriteOnnxModel(model), bytes);
  input.CloseShape({4, 5, 7, 7, 9});
  EXPECT_EQ(input.Shape(), (std::vector<int64_t>{4, 3, 6, 6}));
  const std::string closed = WriteOnnxModel(model);
  EXPECT_EQ(ReadOnnxModel(BytesOf(closed))->graph.inputs[0].Shape(), input.Shape());
  EXPECT_EQ(ReadOnnxModel(BytesOf(closed))->graph.inputs[0].type, kFloat16);
}

TEST(OnnxGraphTest, RefusesTwoGraphsAndAMillionParts) {
  const std::string graph = test::Bytes(7, test::Bytes(2, "g"));
  EXPECT_TRUE(ReadOnnxModel(BytesOf(graph)).ok());
  EXPECT_FALSE(ReadOnnxModel(BytesOf(graph + graph)).ok());
  EXPECT_FALSE(ReadOnnxModel({}).ok());
  std::string nodes;
  for (int i = 0; i < 1'000'001; ++i) nodes += std::string("\x0a\x00", 2);
  const auto refused = ReadOnnxModel(BytesOf(test::Bytes(7, nodes)));
  EXPECT_NE(refused.status().message().find("a million"), std::string::npos);
}

TEST(OnnxGraphTest, SurvivesCutsAndDamage) {
  const std::string whole = test::FileBytes(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx");
  for (size_t size = 0; size < whole.size(); size += 101) {
    const std::string cut = whole.substr(0, size);
    EXPECT_FALSE(ReadOnnxModel(BytesOf(cut)).ok()) << size;
  }
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 8; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto model = ReadOnnxModel(BytesOf(damaged));
    if (model.ok()) {
      EXPECT_GT(WriteOnnxModel(*model).size(), 0u);
    } else {
      EXPECT_EQ(model.status().code(), StatusCode::kInvalidModel);
    }
  }
}

}  // namespace
}  // namespace lattice
