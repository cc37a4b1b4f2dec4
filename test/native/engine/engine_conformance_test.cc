// The promises of every engine, on every engine that this machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "native/cpu/cpu_engine.h"
#include "native/cpu/cpu_precision.h"
#include "native/gpu/gpu_engine.h"
#include "native/letterbox/yuv_sample.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/engine/whole_gpu_engine.h"

namespace lattice {
namespace {

const std::string kTiny = LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx";

struct EngineKind {
  std::string name;
  std::function<Result<std::unique_ptr<Engine>>(const std::string& path)> load;
};

void PrintTo(const EngineKind& kind, std::ostream* out) { *out << kind.name; }

EngineOptions TwoSlots(const std::string& precision) {
  EngineOptions options;
  options.precision = precision;
  options.threads = 2;
  options.sync = {2, 2};
  options.async = {2};
  return options;
}

EngineKind OnCpu(const std::string& precision) {
  return {"cpu_" + precision,
          [=](const std::string& path) { return LoadCpuEngine(path, TwoSlots(precision)); }};
}

EngineKind OnGpus() {
  return {"gpu",
          [](const std::string& path) { return LoadWholeGpuEngine(path, GpuOptionsOfCheck()); }};
}

class EngineConformance : public testing::TestWithParam<EngineKind> {
 protected:
  void SetUp() override {
    if (GetParam().name == "gpu") {
      const auto gpus = UsableGpus();
      if (!gpus.ok()) GTEST_SKIP() << "left out: " << gpus.status().message();
    }
    if (GetParam().name == "cpu_bf16") {
      const auto bf16 = UsesBf16("bf16");
      if (!bf16.ok()) GTEST_SKIP() << "left out: " << bf16.status().message();
    }
    auto loaded = GetParam().load(kTiny);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    engine_ = *std::move(loaded);
    options_.confidence = 0.05f;
  }

  std::unique_ptr<EngineInput> Prepared(Image image) {
    auto input = TakeWhole(*engine_, std::move(image));
    EXPECT_TRUE(input.ok()) << input.status().message();
    return *std::move(input);
  }

  Boxes BoxesOf(Image image, WorkClass work_class = WorkClass::kSync, int slot = 0,
                Width width = Width::kWide) {
    const auto input = Prepared(std::move(image));
    const EngineItem item{input.get(), &options_};
    const Status status = engine_->Run(work_class, slot, width, {&item, 1});
    EXPECT_TRUE(status.ok()) << status.message();
    return RowsOf(engine_->Detect(work_class, slot, 0));
  }

  // The boxes of each input, as one batch of the async class.
  std::vector<Boxes> BatchOf(std::span<const std::unique_ptr<EngineInput>> inputs) {
    std::vector<EngineItem> items;
    for (const auto& input : inputs) items.push_back({input.get(), &options_});
    const Status status = engine_->Run(WorkClass::kAsync, 0, Width::kOneShare, items);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<Boxes> found;
    for (size_t i = 0; i < items.size(); ++i) {
      found.push_back(RowsOf(engine_->Detect(WorkClass::kAsync, 0, i)));
    }
    return found;
  }
  std::vector<Boxes> BatchOf(const std::vector<unsigned>& scenes) {
    EngineInputs inputs;
    for (const unsigned scene : scenes) inputs.push_back(Prepared(Scene(scene)));
    return BatchOf(inputs);
  }

  // In any order: rounding may change it where scores are nearly the same.
  static void ExpectNearly(const Boxes& boxes, const Boxes& expected) {
    ASSERT_EQ(boxes.size(), expected.size());
    for (const auto& row : boxes) {
      const bool known = std::any_of(expected.begin(), expected.end(), [&](const auto& other) {
        bool near = row[5] == other[5] && std::abs(row[4] - other[4]) < 0.02f;
        for (size_t edge = 0; edge < 4; ++edge) near &= std::abs(row[edge] - other[edge]) < 1;
        return near;
      });
      EXPECT_TRUE(known) << row[0] << ", " << row[1] << " scores " << row[4];
    }
  }

  std::unique_ptr<Engine> engine_;
  DetectionOptions options_;
};

TEST_P(EngineConformance, DescribesTheModel) {
  const ModelInfo& info = engine_->info();
  EXPECT_EQ(info.names, (std::vector<std::string>{"car", "motorcycle", "bus", "truck"}));
  EXPECT_EQ(info.input_width, 640);
  EXPECT_EQ(info.anchors, 8400);
  EXPECT_FALSE(info.device.empty());
  EXPECT_FALSE(info.precision.empty());
  EXPECT_GT(engine_->batches().memory_bytes, size_t{1} << 16);
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    EXPECT_GE(engine_->slots(work_class), 1);
    EXPECT_GE(engine_->max_batch(work_class), 1);
  }
}

TEST_P(EngineConformance, BoxesAreBitEqualInEveryClassSlotAndWidth) {
  const Boxes expected = BoxesOf(Scene(1));
  ASSERT_FALSE(expected.empty());
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    for (int slot = 0; slot < engine_->slots(work_class); ++slot) {
      for (const Width width : {Width::kOneShare, Width::kWide}) {
        EXPECT_EQ(BoxesOf(Scene(2), work_class, slot, width), BoxesOf(Scene(2)));
        EXPECT_EQ(BoxesOf(Scene(1), work_class, slot, width), expected);
      }
    }
  }
}

// Whatever lies beside it, an image has the same boxes in batches of one size bit by bit; between
// sizes, for which a GPU may take other kernels, but for rounding.
TEST_P(EngineConformance, OtherImagesOfABatchChangeNothing) {
  const auto most = static_cast<size_t>(engine_->max_batch(WorkClass::kAsync));
  for (size_t size = 1; size <= most;
       size = size < most ? std::min(most, 2 * size + 1) : most + 1) {
    std::map<unsigned, Boxes> first;
    for (unsigned round = 0; round < 2; ++round) {
      std::vector<unsigned> scenes;
      for (unsigned i = 0; i < size; ++i) scenes.push_back((i + 3 * round) % 5);
      const std::vector<Boxes> found = BatchOf(scenes);
      for (size_t i = 0; i < size; ++i) {
        const auto [expected, is_first] = first.try_emplace(scenes[i], found[i]);
        EXPECT_EQ(found[i], expected->second) << "place " << i << " of " << size;
        if (is_first) ExpectNearly(found[i], BoxesOf(Scene(scenes[i])));
      }
    }
  }
}

TEST_P(EngineConformance, EachImageHasItsOwnOptions) {
  DetectionOptions strict = options_;
  strict.max_detections = 1;
  strict.class_ids = {0};
  const auto input = Prepared(Scene(3));
  for (const DetectionOptions* options : {&options_, &strict}) {
    const EngineItem item{input.get(), options};
    ASSERT_TRUE(engine_->Run(WorkClass::kSync, 0, Width::kWide, {&item, 1}).ok());
    const Boxes found = RowsOf(engine_->Detect(WorkClass::kSync, 0, 0));
    if (options == &options_) {
      EXPECT_EQ(found, BoxesOf(Scene(3)));
      continue;
    }
    EXPECT_LE(found.size(), 1u);
    for (const auto& row : found) EXPECT_EQ(row[5], 0);
  }
}

TEST_P(EngineConformance, TakesImagesOfAnyShape) {
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{
           {1, 1}, {3, 2}, {640, 640}, {2000, 40}, {31, 977}, {1919, 1079}}) {
    for (const auto& row : BoxesOf(Scene(4, width, height))) {
      EXPECT_GE(row[0], 0);
      EXPECT_LE(row[2], static_cast<float>(width));
      EXPECT_GE(row[1], 0);
      EXPECT_LE(row[3], static_cast<float>(height));
    }
  }
}

TEST_P(EngineConformance, PlanesGiveTheBoxesOfTheirRgb) {
  std::mt19937 random(5);
  for (const auto& [width, height] :
       std::vector<std::pair<int, int>>{{640, 480}, {1281, 721}, {300, 301}}) {
    Image planes{width, height, {}, PixelLayout::kYuv420};
    const PackedPlanes packed = PackPlanes(planes.layout, width, height);
    planes.data.resize(packed.bytes);
    for (uint8_t& level : planes.data) level = static_cast<uint8_t>(random());
    const uint8_t* at[3];
    for (size_t i = 0; i < 3; ++i) at[i] = planes.data.data() + packed.offsets[i];
    Image rgb{width, height, {}};
    for (int y = 0; y < height; ++y) {
      const YuvRow row = YuvRowAt(at, packed.pitches, width, height, y);
      for (int x = 0; x < width; ++x) {
        const RgbLevels pixel = row.At(x);
        for (const int level : {pixel.red, pixel.green, pixel.blue}) {
          rgb.data.push_back(static_cast<uint8_t>(level));
        }
      }
    }
    options_.confidence = 0;
    const Boxes expected = BoxesOf(std::move(rgb));
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(BoxesOf(std::move(planes)), expected) << width << " x " << height;
  }
}

Image CopyOf(const Image& picture, const Rect& part) {
  Image copy{part.width, part.height, {}};
  for (int y = part.top; y < part.top + part.height; ++y) {
    const auto row = picture.data.begin() + ptrdiff_t{3} * (y * picture.width + part.left);
    copy.data.insert(copy.data.end(), row, row + ptrdiff_t{3} * part.width);
  }
  return copy;
}

// Scaled and unscaled, also with its last row and column at those of the picture; together, alone,
// and beside another picture; wherever the picture was decoded.
TEST_P(EngineConformance, APartOfAPictureGivesTheBoxesOfItsCopy) {
  options_.confidence = 0;
  const std::vector<Rect> parts = {{0, 0, 1000, 700},   {0, 0, 640, 480}, {360, 220, 640, 480},
                                   {113, 57, 501, 333}, {999, 699, 1, 1}, {0, 300, 1000, 400},
                                   {401, 3, 7, 690}};
  const Image picture = Scene(3, 1000, 700);
  EngineInputs copies;
  for (const Rect& part : parts) copies.push_back(Prepared(CopyOf(picture, part)));
  const Image theirs{1000, 700, ByteBuffer(picture.data, &engine_->pixel_memory())};
  for (const Image* image : {&picture, &theirs}) {
    auto taken = engine_->Take(
        Image{1000, 700, ByteBuffer(image->data, image->data.get_allocator())}, parts);
    ASSERT_TRUE(taken.ok()) << taken.status().message();
    ASSERT_EQ(taken->size(), parts.size());
    const auto most = static_cast<size_t>(engine_->max_batch(WorkClass::kAsync));
    for (const size_t batch : {size_t{1}, size_t{3}, parts.size()}) {
      if (batch > most) break;
      for (size_t first = 0; first + batch <= parts.size(); ++first) {
        const auto found = BatchOf(std::span(*taken).subspan(first, batch));
        EXPECT_EQ(found, BatchOf(std::span(copies).subspan(first, batch)))
            << batch << " from " << first;
        for (const Boxes& boxes : found) EXPECT_FALSE(boxes.empty());
        EXPECT_EQ((*taken)[first]->width, parts[first].width);
        EXPECT_EQ((*taken)[first]->height, parts[first].height);
      }
    }
    if (most == 1) continue;
    std::swap(copies[1], (*taken)[1]);
    EXPECT_EQ(BatchOf(*taken), BatchOf(copies));
    std::swap(copies[1], (*taken)[1]);
  }
}

TEST_P(EngineConformance, AnEncodedImageGivesTheBoxesOfItsPixels) {
  std::ifstream stream(LATTICE_SOURCE_DIR "/models/demo/shapes.png", std::ios::binary);
  const std::vector<uint8_t> file{std::istreambuf_iterator<char>(stream), {}};
  const EncodedImage encoded = DescribeEncoded(file);
  const auto pixels = Decode(file, {});
  ASSERT_TRUE(pixels.ok());
  EXPECT_EQ(engine_->ExpectedBytes(encoded, {}), pixels->data.size());
  const auto input = engine_->Take(encoded, {});
  ASSERT_TRUE(input.ok()) << input.status().message();
  EXPECT_EQ((*input)->width, pixels->width);
  EXPECT_EQ((*input)->height, pixels->height);
  EXPECT_EQ((*input)->decoded_by, DecodedBy::kCpu);
  EXPECT_GT((*input)->decode_ms, 0);
  const EngineItem item{input->get(), &options_};
  ASSERT_TRUE(engine_->Run(WorkClass::kSync, 0, Width::kWide, {&item, 1}).ok());
  const Boxes found = RowsOf(engine_->Detect(WorkClass::kSync, 0, 0));
  EXPECT_FALSE(found.empty());
  EXPECT_EQ(found, BoxesOf(*pixels));
  EXPECT_EQ(engine_->Take(encoded, {.max_side = 8}).status().code(), StatusCode::kImageTooLarge);
  const std::vector<uint8_t> text(100, 'a');
  EXPECT_EQ(engine_->Take(DescribeEncoded(text), {}).status().code(),
            StatusCode::kUnsupportedImageFormat);
}

TEST_P(EngineConformance, SlotsRunAtTheSameTimeWithoutMixing) {
  std::vector<Boxes> expected;
  for (unsigned seed = 0; seed < 4; ++seed) expected.push_back(BoxesOf(Scene(seed)));
  std::vector<std::thread> threads;
  unsigned seed = 0;
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    for (int slot = 0; slot < engine_->slots(work_class); ++slot, ++seed) {
      threads.emplace_back([=, this] {
        for (unsigned round = 0; round < 4; ++round) {
          const unsigned scene = (seed + round) % 4;
          EXPECT_EQ(BoxesOf(Scene(scene), work_class, slot, Width::kOneShare), expected[scene]);
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineConformance,
                         testing::Values(OnCpu("f32"), OnCpu("bf16"), OnGpus()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lattice
