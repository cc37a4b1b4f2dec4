#include "native/pipeline/image_pipeline.h"

#include <gtest/gtest.h>

#include <future>

#include "native/engine/openvino/cpu_engine.h"
#include "test/native/decode/simulated_engines.h"

namespace lattice {
namespace {

ImagePipeline DemoPipeline(PipelineOptions options = {}) {
  EXPECT_TRUE(InitDecoders().ok());
  auto files = RootedFiles::Open({LATTICE_SOURCE_DIR "/models/demo"}, 64 << 20);
  EXPECT_TRUE(files.ok()) << files.status().message();
  return {*std::move(files), std::move(options)};
}

std::shared_ptr<Engine> TinyEngine() {
  auto engine =
      LoadCpuEngine(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", {"f32", 2, {1, 2}, {1, 2}});
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return *std::move(engine);
}

ImageTask Task(std::shared_ptr<Engine> engine, std::string path) {
  ImageTask task;
  task.id = 1;
  task.engine = std::move(engine);
  task.path = std::move(path);
  return task;
}

Result<ByteBuffer> ReadFile(const ImagePipeline& pipeline, const std::string& path) {
  std::promise<Result<ByteBuffer>> read;
  pipeline.ReadFile({path, {}, [&](Result<ByteBuffer> file) { read.set_value(std::move(file)); }});
  return read.get_future().get();
}

// All the way from the path.
Result<PreparedImage> Prepare(const ImagePipeline& pipeline, ImageTask& task) {
  auto file = task.pixels ? Result<ByteBuffer>(ByteBuffer()) : ReadFile(pipeline, task.path);
  if (!file.ok()) return file.status();
  auto opened = pipeline.Open(task, *std::move(file));
  if (!opened.ok()) return opened.status();
  return pipeline.Prepare(task, *std::move(opened));
}

TEST(ImagePipelineTest, FindsTheShapesOfTheDemoPicture) {
  const ImagePipeline pipeline = DemoPipeline();
  const auto engine = TinyEngine();
  ImageTask task = Task(engine, "shapes.png");
  auto prepared = Prepare(pipeline, task);
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  const EngineItem item{prepared->input.get(), &task.options};
  ASSERT_TRUE(engine->Run(WorkClass::kSync, 0, Width::kWide, {&item, 1}).ok());
  const Detections found = engine->Detect(WorkClass::kSync, 0, 0);
  ASSERT_GE(found.boxes.size(), 2u);
  for (const Detection& box : found.boxes) {
    EXPECT_GT(box.score, 0.25f);
    EXPECT_LT(box.x1, box.x2);
    EXPECT_LE(box.x2, static_cast<float>(prepared->width));
  }
  EXPECT_GT(prepared->decode_ms, 0);
  EXPECT_GT(prepared->preprocess_ms, 0);
  ImagePipeline::ReleaseThread();
}

TEST(ImagePipelineTest, PixelsGoTheSameWayWithinTheSameLimits) {
  PipelineOptions options;
  options.limits.max_side = 100;
  options.limits.max_pixels = 5000;
  const ImagePipeline pipeline = DemoPipeline(options);
  const auto engine = TinyEngine();
  const auto prepare = [&](int width, int height) {
    ImageTask task = Task(engine, "");
    task.pixels = Image{width, height, ByteBuffer(static_cast<size_t>(3 * width * height), 255)};
    return Prepare(pipeline, task);
  };
  const auto prepared = prepare(64, 64);
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ(prepared->width, 64);
  EXPECT_EQ(prepare(101, 2).status().code(), StatusCode::kImageTooLarge);
  EXPECT_EQ(prepare(80, 80).status().code(), StatusCode::kImageTooLarge);
}

// An engine that keeps images as it gets them; it only reads GPU memory where it is told so.
class KeepingEngine final : public Engine {
 public:
  struct Kept final : EngineInput {
    GpuImage on_gpu;
    int host_width = 0;
  };

  explicit KeepingEngine(bool takes_gpu_images) : takes_gpu_images_(takes_gpu_images) {
    info_.input_width = info_.input_height = 64;
  }
  const ModelInfo& info() const override { return info_; }
  int slots(WorkClass) const override { return 1; }
  int max_batch(WorkClass) const override { return 1; }
  std::pmr::memory_resource* pixel_memory() override { return std::pmr::new_delete_resource(); }
  Result<std::unique_ptr<EngineInput>> Prepare(Image image) override {
    auto kept = std::make_unique<Kept>();
    kept->host_width = image.width;
    return std::unique_ptr<EngineInput>(std::move(kept));
  }
  bool takes_gpu_images() const override { return takes_gpu_images_; }
  Result<std::unique_ptr<EngineInput>> PrepareOnGpu(GpuImage image) override {
    auto kept = std::make_unique<Kept>();
    kept->on_gpu = std::move(image);
    return std::unique_ptr<EngineInput>(std::move(kept));
  }
  Status Run(WorkClass, int, Width, std::span<const EngineItem>) override { return {}; }
  Detections Detect(WorkClass, int, size_t) override { return {}; }

 private:
  const bool takes_gpu_images_;
  ModelInfo info_;
};

TEST(ImagePipelineTest, PixelsStayOnTheGpuForEnginesThatReadThemThere) {
  test::EngineControl control;
  ASSERT_TRUE(InitDecoders().ok());
  const ImagePipeline pipeline(*RootedFiles::Open({LATTICE_SOURCE_DIR "/models/demo"}, 64 << 20),
                               {}, std::make_unique<ImageDecoder>(test::DecoderOn(1, control)));
  for (const bool reads : {true, false}) {
    ImageTask task = Task(std::make_shared<KeepingEngine>(reads), "street.jpg");
    const auto prepared = Prepare(pipeline, task);
    ASSERT_TRUE(prepared.ok()) << prepared.status().message();
    EXPECT_EQ(prepared->width, 960);
    EXPECT_EQ(prepared->height, 720);
    const auto& kept = static_cast<const KeepingEngine::Kept&>(*prepared->input);
    EXPECT_EQ(kept.on_gpu.gpu, reads ? 3 : -1);
    EXPECT_EQ(kept.host_width, reads ? 0 : 960);
    EXPECT_EQ(kept.on_gpu.width, reads ? 960 : 0);
  }
  EXPECT_EQ(pipeline.decode_stats().hardware, 1u);
  EXPECT_EQ(pipeline.decode_stats().cpu, 1u);
}

TEST(ImagePipelineTest, HandsOnTheCodesOfFilesAndDecoders) {
  const ImagePipeline pipeline = DemoPipeline();
  const auto engine = TinyEngine();
  const auto code = [&](const char* path) {
    ImageTask task = Task(engine, path);
    return Prepare(pipeline, task).status().code();
  };
  EXPECT_EQ(code("none.png"), StatusCode::kImageNotFound);
  EXPECT_EQ(code("../tiny/tiny-v8.onnx"), StatusCode::kPathNotAllowed);
  EXPECT_EQ(code(""), StatusCode::kPathNotAllowed);
  EXPECT_EQ(code("shapes.json"), StatusCode::kUnsupportedImageFormat);
  EXPECT_TRUE(ReadFile(pipeline, "shapes.json").ok());
  EXPECT_EQ(ReadFile(pipeline, "none").status().code(), StatusCode::kImageNotFound);
}

TEST(ImagePipelineDeathTest, AbortsOnTheSuffixOfTheTestHook) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  PipelineOptions options;
  options.abort_on_path_suffix = "poison.png";
  const ImagePipeline pipeline = DemoPipeline(options);
  const auto engine = TinyEngine();
  ImageTask task = Task(engine, "a/poison.png");
  EXPECT_EXIT((void)pipeline.Open(task, {}), testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace lattice
