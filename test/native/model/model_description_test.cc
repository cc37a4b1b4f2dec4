#include "native/model/model_description.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

using Metadata = std::map<std::string, std::string>;

ModelInfo Detector(Metadata more = {}) {
  more.insert({{"task", "detect"}, {"names", "{0: 'car', 1: 'bus'}"}, {"stride", "32"}});
  return *DescribeMetadata(std::move(more));
}

std::string Refusal(const Status& status) {
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  return status.message();
}

TEST(DescribeMetadataTest, TakesDetectorsAndOldExportsWithoutATask) {
  EXPECT_EQ(Detector().names, (std::vector<std::string>{"car", "bus"}));
  EXPECT_TRUE(DescribeMetadata({{"names", "{0: 'car'}"}}).ok());
}

TEST(DescribeMetadataTest, SaysWhatItFound) {
  EXPECT_NE(Refusal(DescribeMetadata({{"task", "segment"}, {"names", "{0: 'car'}"}}).status())
                .find("'segment'"),
            std::string::npos);
  EXPECT_NE(Refusal(DescribeMetadata({{"names", "{0: 'car'}"}, {"head", "RTDETRDecoder"}}).status())
                .find("RT-DETR"),
            std::string::npos);
  EXPECT_NE(Refusal(DescribeMetadata({{"task", "detect"}}).status()).find("names"),
            std::string::npos);
  for (const char* names : {"car", "None", "['car', '']"}) {
    EXPECT_NE(Refusal(DescribeMetadata({{"names", names}}).status()).find("--names"),
              std::string::npos);
  }
  for (const char* stride : {"0", "-1", "x", "100000", "32.5"}) {
    EXPECT_NE(Refusal(DescribeMetadata({{"names", "{0: 'car'}"}, {"stride", stride}}).status())
                  .find("stride"),
              std::string::npos);
  }
}

TEST(DescribeMetadataTest, ReadsTheStrideOfAnyExporter) {
  for (const char* stride : {"32", "32.0", "[8, 16, 32]", "[32.0]"}) {
    EXPECT_EQ(DescribeMetadata({{"names", "['car']"}, {"stride", stride}})->stride, 32) << stride;
  }
}

TEST(ResolveInputTest, KeepsFixedSidesAndClosesOpenOnes) {
  ModelInfo fixed = Detector({{"imgsz", "[320, 320]"}});
  EXPECT_EQ(*ResolveInput({{4, 3, 384, 640}}, fixed), (Shape{4, 3, 384, 640}));
  EXPECT_EQ(fixed.fixed_batch, 4);
  EXPECT_EQ(fixed.input_width, 640);
  EXPECT_EQ(fixed.input_height, 384);

  ModelInfo open = Detector({{"imgsz", "[320, 480]"}});
  EXPECT_EQ(*ResolveInput({{-1, 3, -1, -1}}, open), (Shape{1, 3, 320, 480}));
  EXPECT_EQ(open.fixed_batch, 0);

  ModelInfo pair = Detector({{"imgsz", "320,480"}});
  EXPECT_EQ(*ResolveInput({{-1, 3, -1, -1}}, pair), (Shape{1, 3, 320, 480}));

  ModelInfo single = Detector({{"imgsz", "416"}});
  EXPECT_EQ(*ResolveInput({{-1, -1, -1, -1}}, single), (Shape{1, 3, 416, 416}));

  ModelInfo silent = Detector();
  EXPECT_EQ(*ResolveInput({{-1, 3, -1, -1}}, silent), (Shape{1, 3, 640, 640}));
}

TEST(ResolveInputTest, RefusesOtherInputs) {
  const std::vector<std::vector<Shape>> wrong = {{},
                                                 {{1, 3, 640, 640}, {1, 3, 640, 640}},
                                                 {{1, 640, 640, 3}},
                                                 {{1, 1, 640, 640}},
                                                 {{1, 3, 640}},
                                                 {{1, 3, 640, 650}},
                                                 {{1, 3, 0, 640}},
                                                 {{65, 3, 640, 640}},
                                                 {{0, 3, 640, 640}},
                                                 {{1, 3, 1 << 20, 640}}};
  for (const auto& inputs : wrong) {
    ModelInfo info = Detector();
    EXPECT_FALSE(Refusal(ResolveInput(inputs, info).status()).empty());
  }
  ModelInfo unreadable = Detector({{"imgsz", "[640, 640, 3]"}});
  EXPECT_NE(Refusal(ResolveInput({{1, 3, -1, -1}}, unreadable).status()).find("imgsz"),
            std::string::npos);
}

TEST(ResolveInputTest, TellsOfManyInputsInASentence) {
  ModelInfo info = Detector();
  const std::vector<Shape> inputs(100'000, Shape(1'000, 3));
  const std::string text = Refusal(ResolveInput(inputs, info).status());
  EXPECT_LT(text.size(), 400u);
  EXPECT_NE(text.find("[3, 3, 3, 3, 3, 3, 3, 3, ...] and more, 100000 in all"), std::string::npos)
      << text;
}

TEST(CheckOutputTest, TakesRowsPerAnchorAndRowsPerBox) {
  ModelInfo info = Detector();
  EXPECT_TRUE(CheckOutput({{1, 6, 8400}}, 1, false, info).ok());
  EXPECT_EQ(info.head.layout, HeadLayout::kRows);
  EXPECT_EQ(info.head.classes, 2);
  EXPECT_EQ(info.anchors, 8400);
  for (const Shape& rows : {Shape{1, 300, 6}, Shape{1, -1, 6}, Shape{-1, -1, 6}}) {
    ASSERT_TRUE(CheckOutput({rows}, 1, true, info).ok());
    EXPECT_EQ(info.head.layout, HeadLayout::kFinal);
  }
}

TEST(CheckOutputTest, RefusesOthersWithTheWholeShape) {
  ModelInfo info = Detector();
  for (const std::vector<Shape>& outputs : std::vector<std::vector<Shape>>{{{1, 8400, 7}},
                                                                           {{1, 300, 38}},
                                                                           {{1, 84, 8400}},
                                                                           {{2, 6, 8400}},
                                                                           {{1, 6, -1}},
                                                                           {{1, 6, 0}},
                                                                           {{6, 8400}}}) {
    const std::string text = Refusal(CheckOutput(outputs, 1, false, info));
    EXPECT_NE(text.find(ToText(outputs[0]) + "."), std::string::npos) << text;
    EXPECT_NE(text.find("[1, 6] with anchors last"), std::string::npos) << text;
  }
  EXPECT_NE(Refusal(CheckOutput({}, 1, false, info)).find("none"), std::string::npos);
}

TEST(CheckOutputTest, SaysHowToExportAgain) {
  ModelInfo info = Detector();
  const auto advice = [&](const std::vector<Shape>& outputs) {
    return Refusal(CheckOutput(outputs, 1, false, info));
  };
  EXPECT_NE(advice({{1, 25200, 7}}).find("yolov5nu"), std::string::npos);
  EXPECT_NE(advice({{1, 300, 38}}).find("task=detect"), std::string::npos);
  EXPECT_NE(advice({{1, 84, 8400}}).find("nms=False and end2end=False"), std::string::npos);
  EXPECT_NE(advice({{1, 116, 8400}, {1, 32, 160, 160}}).find("task=detect"), std::string::npos);
  info.names.resize(80);
  EXPECT_NE(advice({{1, 300, 84}}).find("RT-DETR"), std::string::npos);
  EXPECT_NE(advice({{1, 300, 80}, {1, 300, 4}}).find("name for each class"), std::string::npos);
  EXPECT_NE(advice({{1, 8400, 84}}).find("swapped"), std::string::npos);
}

TEST(CheckOutputTest, SaysWhatRowsOfSixLookLike) {
  const auto advice = [](size_t classes, int64_t rows, bool chooses = false) {
    ModelInfo info = Detector();
    info.names.resize(classes);
    info.input_width = info.input_height = 640;
    return Refusal(CheckOutput({{1, rows, 6}}, 1, chooses, info));
  };
  EXPECT_NE(advice(1, 25200).find("v5, v7"), std::string::npos);
  EXPECT_NE(advice(1, 8400).find("YOLOX"), std::string::npos);
  EXPECT_NE(advice(2, 8400).find("swapped"), std::string::npos);
  EXPECT_NE(advice(80, 300).find("TopK, NonMaxSuppression"), std::string::npos);
}

TEST(ToTextTest, MarksOpenDimensions) { EXPECT_EQ(ToText(Shape{-1, 3, 640}), "[?, 3, 640]"); }

}  // namespace
}  // namespace lattice
