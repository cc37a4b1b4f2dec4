// Networks with every kind of end on simulated GPUs: the boxes are those that the core makes on the
// host of the same numbers, to the bit. In builds with LATTICE_SIMULATED_GPU only.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "native/gpu/gpu_engine.h"
#include "native/gpu/tensorrt/gpu_network.h"
#include "native/gpu/tensorrt/tensorrt_model.h"
#include "native/letterbox/letterbox.h"
#include "native/model/half_float.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/engine/whole_gpu_engine.h"
#include "test/native/gpu/tensorrt/network_runner.h"
#include "test/native/model/head_writer.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

struct HeadCase {
  std::string name;
  test::HeadOptions options;
  std::string precision = "fp16";
};

void PrintTo(const HeadCase& head, std::ostream* out) { *out << head.name; }

// The first row that differs; "" where none does.
std::string Difference(const Boxes& boxes, const Boxes& expected) {
  if (boxes.size() != expected.size()) {
    return std::to_string(boxes.size()) + " boxes instead of " + std::to_string(expected.size());
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i] == expected[i]) continue;
    return "row " + std::to_string(i) + ": " + testing::PrintToString(boxes[i]) + " instead of " +
           testing::PrintToString(expected[i]);
  }
  return "";
}

class SimulatedHeads : public testing::TestWithParam<HeadCase> {
 protected:
  void SetUp() override {
    simulated::PlugIn({{}});
    path_ = testing::TempDir() + "head-" + std::to_string(getpid()) + ".onnx";
    std::ofstream(path_, std::ios::binary) << test::HeadWriter(GetParam().options).Model();
    auto engine = LoadWholeGpuEngine(path_, {});
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    engine_ = *std::move(engine);
    asked_.confidence = 0.3f;
  }
  void TearDown() override { unlink(path_.c_str()); }

  // A picture of large and small rectangles.
  static Image Picture(unsigned seed) {
    std::mt19937 random(seed);
    Image image{200, 150, {}};
    image.data.assign(3 * 200 * 150, 128);
    for (int i = 0; i < 40; ++i) {
      const auto left = static_cast<int>(random() % 200);
      const auto top = static_cast<int>(random() % 150);
      const auto side = static_cast<int>(4 + random() % 80);
      const uint8_t colour[] = {static_cast<uint8_t>(random()), static_cast<uint8_t>(random()),
                                static_cast<uint8_t>(random())};
      for (int y = top; y < std::min(150, top + side); ++y) {
        for (int x = left; x < std::min(200, left + side); ++x) {
          std::copy_n(colour, 3, &image.data[static_cast<size_t>(3 * (y * 200 + x))]);
        }
      }
    }
    return image;
  }

  std::vector<Boxes> FoundIn(const std::vector<Image>& images) {
    std::vector<std::unique_ptr<EngineInput>> inputs;
    std::vector<EngineItem> items;
    for (const Image& image : images) {
      inputs.push_back(*TakeWhole(*engine_, image));
      items.push_back({inputs.back().get(), &asked_});
    }
    const Status status = engine_->Run(WorkClass::kAsync, 0, Width::kOneShare, items);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<Boxes> found;
    for (size_t i = 0; i < images.size(); ++i) {
      found.push_back(RowsOf(engine_->Detect(WorkClass::kAsync, 0, i)));
    }
    return found;
  }

  // The boxes that the host makes of the output of the converted network.
  Boxes ExpectedIn(const Image& image) const {
    const auto model = ReadTensorRtModel(path_);
    EXPECT_TRUE(model.ok()) << model.status().message();
    ModelInfo info = model->info;
    if (!model->cut) info.head.layout = HeadLayout::kRows;
    const auto network = GpuNetwork(model->onnx, info, model->cut);
    EXPECT_TRUE(network.ok()) << network.status().message();
    const auto batch = static_cast<size_t>(std::max(info.fixed_batch, 1));
    const auto height = static_cast<size_t>(info.input_height);
    const auto width = static_cast<size_t>(info.input_width);
    const LetterboxTransform t =
        ComputeLetterbox(image.width, image.height, info.input_width, info.input_height);
    std::vector<float> input(batch * 3 * height * width, 114 / 255.0f);
    Letterbox(image, t, info.input_width, info.input_height, input.data());
    for (float& value : input) value = FromHalfBits(ToHalfBits(value));
    return RowsOf(test::NetworkRunner(*network, {batch, 3, height, width})
                      .Run(input)
                      .BoxesOf(info.head, 0, t, asked_));
  }

  std::string path_;
  std::unique_ptr<Engine> engine_;
  DetectionOptions asked_;
};

TEST_P(SimulatedHeads, BoxesAreTheHostsOfTheSameNumbers) {
  EXPECT_EQ(engine_->info().precision, GetParam().precision);
  size_t found = 0;
  for (unsigned seed = 0; seed < 3; ++seed) {
    const Image image = Picture(seed);
    const Boxes boxes = FoundIn({image})[0];
    EXPECT_EQ(Difference(boxes, ExpectedIn(image)), "");
    found += boxes.size();
  }
  EXPECT_GT(found, 0u);
}

TEST_P(SimulatedHeads, OtherImagesOfABatchChangeNothing) {
  std::vector<Image> images;
  for (unsigned seed = 0; seed < 4; ++seed) images.push_back(Picture(seed));
  const std::vector<Boxes> mixed = FoundIn(images);
  for (size_t i = 0; i < images.size(); ++i) {
    const Boxes alone = FoundIn(std::vector<Image>(images.size(), images[i]))[i];
    EXPECT_EQ(Difference(mixed[i], alone), "") << i;
  }
}

TEST_P(SimulatedHeads, OptionsCountOfEveryKindOfEnd) {
  asked_.max_detections = 2;
  asked_.class_ids = {1};
  const Boxes boxes = FoundIn({Picture(1)})[0];
  EXPECT_EQ(Difference(boxes, ExpectedIn(Picture(1))), "");
  EXPECT_LE(boxes.size(), 2u);
  for (const auto& row : boxes) EXPECT_EQ(row[5], 1);
}

HeadCase Case(const std::string& name, const std::function<void(test::HeadOptions&)>& change,
              const std::string& precision = "fp16") {
  HeadCase made{name, {}, precision};
  made.options.batch = 0;
  change(made.options);
  return made;
}

INSTANTIATE_TEST_SUITE_P(
    Ends, SimulatedHeads,
    testing::Values(Case("pairs_joined", [](auto&) {}),
                    Case("kinds_joined", [](auto& o) { o.joins_kinds = true; }),
                    Case("distances", [](auto& o) { o.bins = 1; }),
                    Case("one_to_one", [](auto& o) { o.one_to_one = o.joins_kinds = true; }),
                    Case("one_to_one_distances", [](auto& o) { o.one_to_one = true, o.bins = 1; }),
                    Case("four_classes", [](auto& o) { o.classes = 4, o.bins = 1; }),
                    Case("batch_of_4", [](auto& o) { o.batch = 4; }),
                    Case("rectangle", [](auto& o) { o.width = 224; }),
                    Case(
                        "unknown_end", [](auto& o) { o.other_scores = true; }, "fp32")),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
