#include "native/scheduler/core.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "native/cpu/cpu_precision.h"
#include "native/gpu/gpu_engine.h"
#include "test/native/scheduler/pixel_engine.h"
#include "test/native/scheduler/task_results.h"
#ifdef LATTICE_SIMULATED_GPU
#include "test/native/simulated_cuda/simulated_gpus.h"
#endif

namespace lattice {
namespace {

const std::string kTiny = LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx";

CoreOptions Options() {
  CoreOptions options;
  options.roots = {LATTICE_SOURCE_DIR "/models/demo"};
  options.threads = 2;
  options.precision = "f32";
  return options;
}

Result<LoadedModel> Load(Core& core, const std::string& path) {
  std::promise<Result<LoadedModel>> loaded;
  core.LoadModel({path}, [&](Result<LoadedModel> model) { loaded.set_value(std::move(model)); });
  return loaded.get_future().get();
}

TEST(CoreTest, DetectsInTheDemoPicture) {
  std::promise<TaskResult> answer;
  const auto core =
      *Core::Open(Options(), [&](TaskResult result) { answer.set_value(std::move(result)); });
  const auto model = Load(*core, kTiny);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ImageTask task;
  task.id = 9;
  task.engine = core->FindModel(model->id);
  task.path = "shapes.png";
  task.work_class = WorkClass::kSync;
  EXPECT_EQ(core->Submit({std::move(task)}), 0u);
  core->UnloadModel(model->id);  // the task keeps what it needs
  const TaskResult result = answer.get_future().get();
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_GE(result.detections.boxes.size(), 2u);
  EXPECT_EQ(core->FindModel(model->id), nullptr);
  core->UnloadModel(model->id);
}

TEST(CoreTest, TakesTheEightBitFileWhereItPays) {
  CoreOptions options = Options();
  options.device = "cpu";  // a GPU runs the model itself
  const auto core = *Core::Open(options, [](const TaskResult&) {});
  std::promise<Result<LoadedModel>> loaded;
  core->LoadModel({kTiny, LATTICE_SOURCE_DIR "/models/vehicles-v8n.int8.onnx"},
                  [&](Result<LoadedModel> model) { loaded.set_value(std::move(model)); });
  const auto model = loaded.get_future().get();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->info.precision, EightBitPays() ? "int8" : "f32");
}

TEST(CoreTest, RefusesRootsDevicesAndModelsThatAreNotThere) {
  const auto ignore = [](const TaskResult&) {};
  CoreOptions options = Options();
  options.roots = {"/nonexistent-folder"};
  EXPECT_EQ(Core::Open(options, ignore).status().code(), StatusCode::kImageNotFound);
  options = Options();
  options.device = "cuda";
  EXPECT_EQ(Core::Open(options, ignore).status().code(),
            UsableGpus().ok() ? StatusCode::kOk : StatusCode::kGpuUnavailable);
  options = Options();
  options.crash_marker_path = "/nonexistent-folder/marker";
  EXPECT_EQ(Core::Open(options, ignore).status().code(), StatusCode::kInternalError);
  const auto core = *Core::Open(Options(), ignore);
  EXPECT_EQ(Load(*core, "/none.onnx").status().code(), StatusCode::kUnknownModel);
}

// One that does nothing but say on which thread it is freed.
class FreedEngine final : public test::PixelEngine {
 public:
  explicit FreedEngine(std::promise<std::thread::id>* freed_on) : freed_on_(freed_on) {}
  ~FreedEngine() override { freed_on_->set_value(std::this_thread::get_id()); }
  const ModelInfo& info() const override { return info_; }
  int slots(WorkClass) const override { return 1; }
  int wide_slots(WorkClass) const override { return 1; }
  int max_batch(WorkClass) const override { return 1; }
  Result<std::unique_ptr<EngineInput>> Take(const PictureView&) override { return Status(); }
  Status Run(WorkClass, int, Width, std::span<const EngineItem>) override { return {}; }
  Detections Detect(WorkClass, int, size_t) override { return {}; }

 private:
  std::promise<std::thread::id>* freed_on_;
  ModelInfo info_;
};

TEST(CoreTest, AnEngineIsFreedOnItsThreadWhereverItIsReleased) {
  const auto loader = std::make_shared<SerialThread>();
  std::promise<std::thread::id> loader_id;
  loader->Post([&] { loader_id.set_value(std::this_thread::get_id()); });
  std::promise<std::thread::id> freed_on;
  FreedOn(loader, std::make_unique<FreedEngine>(&freed_on)).reset();
  EXPECT_EQ(freed_on.get_future().get(), loader_id.get_future().get());

  loader->Stop();
  std::promise<std::thread::id> freed_late_on;
  FreedOn(loader, std::make_unique<FreedEngine>(&freed_late_on)).reset();
  EXPECT_EQ(freed_late_on.get_future().get(), std::this_thread::get_id());
}

TEST(CoreTest, ReadsFilesBeneathItsRootsUntilItIsClosed) {
  const auto core = *Core::Open(Options(), [](const TaskResult&) {});
  const auto read = [&](const char* path) {
    std::promise<Result<FileContent>> file;
    core->ReadFile(path, [&](Result<FileContent> result) { file.set_value(std::move(result)); });
    return file.get_future().get();
  };
  EXPECT_GT(read("shapes.png")->bytes.size(), 100u);
  EXPECT_EQ(read("../tiny/tiny-v8.onnx").status().code(), StatusCode::kPathNotAllowed);
  core->Close();
  core->Close();
  EXPECT_EQ(read("shapes.png").status().code(), StatusCode::kShuttingDown);
  EXPECT_EQ(Load(*core, kTiny).status().code(), StatusCode::kShuttingDown);
}

#ifdef LATTICE_SIMULATED_GPU
TEST(CoreTest, TakesTheFirstGpuThatCanBeUsed) {
  simulated::PlugIn({{"Volta", 7, 0}, {"Hopper", 9, 0}, {"Ada", 8, 9}});
  test::TaskResults results;
  CoreOptions options = Options();
  options.device = "cuda";
  const auto core = Core::Open(options, [&](TaskResult result) { results.Add(std::move(result)); });
  ASSERT_TRUE(core.ok()) << core.status().message();
  const auto model = Load(**core, kTiny);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->info.device, "Hopper");
  ImageTask task;
  task.id = 1;
  task.engine = (*core)->FindModel(model->id);
  task.path = "street.jpg";
  EXPECT_EQ((*core)->Submit({std::move(task)}), 0u);
  EXPECT_TRUE(results.Wait(1).status.ok()) << results.Wait(1).status.message();
  EXPECT_EQ(simulated::UsedBytes(0), 0u);
}

// Otherwise most decode threads would wait for the GPU.
TEST(CoreTest, ImagesThatAGpuDecodesLeaveTheCoresTheirThreads) {
  simulated::PlugIn({{}});
  test::TaskResults results;
  CoreOptions options = Options();
  options.device = "cuda";
  const auto core =
      *Core::Open(options, [&](TaskResult result) { results.Add(std::move(result)); });
  const auto model = Load(*core, kTiny);
  ASSERT_TRUE(model.ok()) << model.status().message();
  simulated::HangCall(simulated::Call::kJpegDecode, 0);
  constexpr uint64_t kImages = 40;
  for (uint64_t id = 1; id <= kImages; ++id) {
    ImageTask task;
    task.id = id;
    task.engine = core->FindModel(model->id);
    task.path = "street.jpg";
    EXPECT_EQ(core->Submit({std::move(task)}), 0u);
  }
  // The GPU has all that it takes, and gives nothing back.
  const auto on_cores = [&] { return core->stats().decoded_by_cpu; };
  const uint64_t before = on_cores();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (on_cores() < before + 5 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(on_cores(), before + 5);
  simulated::Release(0);
  for (uint64_t id = 1; id <= kImages; ++id) {
    EXPECT_TRUE(results.Wait(id).status.ok()) << results.Wait(id).status.message();
  }
}
#endif

}  // namespace
}  // namespace lattice
