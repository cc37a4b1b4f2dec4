#include "native/cpu/head_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "native/model/model_description.h"
#include "native/model/onnx_reader.h"
#include "test/native/model/head_writer.h"

namespace lattice {
namespace {

using test::HeadOptions;
using test::HeadWriter;

std::optional<Head> Check(const HeadOptions& options) {
  const std::string file = HeadWriter(options).Model();
  const auto found = FindDetectionHead(*ReadOnnxModel(BytesOf(file)), options.classes);
  EXPECT_TRUE(found);
  if (!found) return std::nullopt;
  return CheckHead(file, *found, {options.batch, 3, options.height, options.width},
                   options.classes);
}

TEST(HeadCheckTest, KnowsTheEndsOfEveryLayout) {
  for (HeadOptions options : test::EveryLayout({1, 4, 13})) {
    options.width = 192;
    const auto head = Check(options);
    ASSERT_TRUE(head) << options.classes << " " << options.bins << options.joins_kinds
                      << options.one_to_one;
    EXPECT_EQ(head->layout, HeadLayout::kScales);
    EXPECT_EQ(head->classes, options.classes);
    EXPECT_EQ(head->bins, options.bins);
    EXPECT_EQ(head->strides, (std::array<int, 3>{8, 16, 32}));
    EXPECT_EQ(head->one_to_one, options.one_to_one);
  }
}

TEST(HeadCheckTest, KnowsQuantisedNumbersAndBatches) {
  HeadOptions options;
  options.quantised = true;
  EXPECT_TRUE(Check(options));
  options.quantised = false;
  options.batch = 3;
  EXPECT_TRUE(Check(options));
  options.one_to_one = true;
  EXPECT_TRUE(Check(options));
}

TEST(HeadCheckTest, RefusesEndsThatOnlyLookAlike) {
  HeadOptions options;
  options.other_scores = true;
  EXPECT_FALSE(Check(options));
  options = {};
  options.bins = 1;
  options.positive_distances = true;
  EXPECT_FALSE(Check(options));
  options = {};
  options.one_to_one = true;
  options.one_class_per_box = true;
  EXPECT_FALSE(Check(options));
  // The one class of a box is the best one where there is one class only.
  options.classes = 1;
  EXPECT_TRUE(Check(options));
}

TEST(HeadCheckTest, RefusesTensorsOfAnotherPlace) {
  const std::string file = HeadWriter({}).Model();
  const Shape input = {1, 3, 160, 160};
  const DetectionHead head = *FindDetectionHead(*ReadOnnxModel(BytesOf(file)), 3);
  EXPECT_TRUE(CheckHead(file, head, input, 3));
  DetectionHead swapped = head;
  std::swap(swapped.scales[0], swapped.scales[1]);
  EXPECT_FALSE(CheckHead(file, swapped, input, 3));
  DetectionHead before = head;
  before.scales[2].boxes = "features32";
  EXPECT_FALSE(CheckHead(file, before, input, 3));
  DetectionHead absent = head;
  absent.scales[2].boxes = "nowhere";
  EXPECT_FALSE(CheckHead(file, absent, input, 3));
  EXPECT_FALSE(CheckHead(file, head, {1, 3, 192, 160}, 3));
  EXPECT_FALSE(CheckHead(file.substr(0, file.size() / 2), head, input, 3));
}

TEST(HeadCheckTest, KnowsRealModels) {
  const std::string shared = LATTICE_SOURCE_DIR "/../shared/testdata/models/yolov8n.onnx";
  const std::string bundled = LATTICE_SOURCE_DIR "/models/vehicles-v8n.onnx";
  for (const auto& [path, classes] : {std::pair{bundled, 4}, std::pair{shared, 80}}) {
    if (!std::filesystem::exists(path)) {
      std::cout << "left out: there is no " << path << "\n";
      continue;
    }
    const std::string file = test::FileBytes(path);
    const auto found = FindDetectionHead(*ReadOnnxModel(BytesOf(file)), classes);
    ASSERT_TRUE(found);
    const auto head = CheckHead(file, *found, {1, 3, 640, 640}, classes);
    ASSERT_TRUE(head) << path;
    EXPECT_FALSE(head->one_to_one);
  }
}

}  // namespace
}  // namespace lattice
