// The GPU engine on simulated GPUs, whose calls fail when a test says so. In builds with
// LATTICE_SIMULATED_GPU only. What every engine promises, on real GPUs too, is in
// engine_conformance_test; lost GPUs are in simulated_loss_test.
#ifdef LATTICE_SIMULATED_GPU
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "native/base/scoped_fd.h"
#include "native/gpu/gpu_engine.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/engine/whole_gpu_engine.h"
#include "test/native/model/head_writer.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

using simulated::Call;

const std::string kTiny = LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx";

class SimulatedGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    cache_ = std::filesystem::path(testing::TempDir()) /
             ("lattice-engines-" + std::to_string(::getpid()));
    std::filesystem::remove_all(cache_);
    std::filesystem::create_directories(cache_);
    std::filesystem::permissions(cache_, std::filesystem::perms::owner_all);
    simulated::PlugIn({{}});
    options_.confidence = 0.05f;
  }
  void TearDown() override { std::filesystem::remove_all(cache_); }

  Result<std::unique_ptr<Engine>> Load(const OnEngineBuild& on_build = nullptr, int gpu = 0) {
    GpuEngineOptions options;
    options.gpu = gpu;
    options.kept_folder = cache_;
    options.batches = batches_;
    return LoadWholeGpuEngine(model_, options, on_build);
  }

  std::unique_ptr<Engine> Loaded() {
    auto engine = Load();
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? *std::move(engine) : nullptr;
  }

  Status Run(Engine& engine, int slot, Boxes* boxes, WorkClass work_class = WorkClass::kSync) {
    const auto input = TakeWhole(engine, Scene(1));
    if (!input.ok()) return input.status();
    const EngineItem item{input->get(), &options_};
    const Status status = engine.Run(work_class, slot, Width::kOneShare, {&item, 1});
    if (status.ok()) *boxes = RowsOf(engine.Detect(work_class, slot, 0));
    return status;
  }

  // How many engines a load builds.
  int BuildsToLoad() {
    int builds = 0;
    const auto engine = Load([&builds](double share) {
      builds += share >= 1 ? 1 : 0;
      return true;
    });
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return builds;
  }

  // A network that is cut at its head; the other model runs whole.
  void WriteCutModel() {
    model_ = cache_ / "head.onnx";
    test::HeadOptions options;
    options.batch = 0;
    std::ofstream(model_, std::ios::binary) << test::HeadWriter(options).Model();
  }

  std::filesystem::path cache_;
  std::string model_ = kTiny;
  std::vector<int> batches_ = {1, 4};  // each is made ready by every load
  DetectionOptions options_;
};

// The first call of a kind, one in between, one of the last.
TEST_F(SimulatedGpuTest, WhateverFailsWhileAModelIsLoadedHasAReasonAndLeavesNothing) {
  WriteCutModel();
  EXPECT_NE(Loaded(), nullptr);
  struct Case {
    Call call;
    cudaError_t error;
    std::vector<int> passing;
    StatusCode code;
  };
  const Case cases[] = {
      {Call::kMalloc, cudaErrorMemoryAllocation, {0, 9, 47}, StatusCode::kOverloaded},
      {Call::kHostAlloc, cudaErrorMemoryAllocation, {0, 5}, StatusCode::kOverloaded},
      {Call::kStreamCreate, cudaErrorInvalidValue, {0, 3}, StatusCode::kInternalError},
      {Call::kGraphInstantiate, cudaErrorMemoryAllocation, {0, 7}, StatusCode::kOverloaded},
      {Call::kGraphLaunch, cudaErrorInvalidValue, {0, 3}, StatusCode::kInternalError},
      {Call::kKernel, cudaErrorInvalidConfiguration, {0, 6}, StatusCode::kInternalError},
      {Call::kDeserialize, cudaErrorMemoryAllocation, {0}, StatusCode::kOverloaded},
      {Call::kCreateContext, cudaErrorUnknown, {1, 8}, StatusCode::kDetectionFailed},
      {Call::kCreateContext, cudaErrorMemoryAllocation, {0, 1, 8}, StatusCode::kOverloaded},
      {Call::kEnqueue, cudaErrorUnknown, {0, 1}, StatusCode::kDetectionFailed},
  };
  for (const Case& c : cases) {
    for (const int passing : c.passing) {
      simulated::FailCall(c.call, c.error, passing);
      const auto engine = Load();
      const std::string which =
          std::to_string(static_cast<int>(c.call)) + " after " + std::to_string(passing);
      ASSERT_FALSE(engine.ok()) << which;
      EXPECT_EQ(engine.status().code(), c.code) << which << ": " << engine.status().message();
      EXPECT_GT(engine.status().message().size(), 20u) << which;
      EXPECT_EQ(simulated::UsedBytes(0), 0u) << which;
    }
  }
  EXPECT_NE(Loaded(), nullptr);
}

TEST_F(SimulatedGpuTest, ACardTooSmallIsAReason) {
  (void)Loaded();
  simulated::PlugIn({{"Small", 9, 0, size_t{40} << 20}});
  const auto engine = Load();
  EXPECT_EQ(engine.status().code(), StatusCode::kOverloaded) << engine.status().message();
  EXPECT_EQ(simulated::UsedBytes(0), 0u);
}

TEST_F(SimulatedGpuTest, MemoryOfTheHostThatIsShortIsNotCalledTheGpus) {
  (void)Loaded();
  simulated::FailCall(Call::kHostAlloc, cudaErrorMemoryAllocation);
  const Status status = Load().status();
  EXPECT_EQ(status.code(), StatusCode::kOverloaded);
  EXPECT_NE(status.message().find("Free host memory"), std::string::npos) << status.message();
}

TEST_F(SimulatedGpuTest, WhatTheParserOrTheBuilderSaysIsInTheSentence) {
  simulated::FailCall(Call::kParse, cudaErrorUnknown);
  const Status parsed = Load().status();
  EXPECT_EQ(parsed.code(), StatusCode::kInvalidModel);
  EXPECT_NE(parsed.message().find("Simulated '/simulated/node': No importer"), std::string::npos)
      << parsed.message();
  simulated::FailCall(Call::kBuild, cudaErrorUnknown);
  const Status built = Load().status();
  EXPECT_EQ(built.code(), StatusCode::kInvalidModel);
  EXPECT_NE(built.message().find("any implementation"), std::string::npos) << built.message();
}

TEST_F(SimulatedGpuTest, ABuildTellsItsProgressAndCanBeGivenUp) {
  std::vector<double> shares;
  const auto until_half = [&](double share) {
    shares.push_back(share);
    return share < 0.5;
  };
  EXPECT_EQ(Load(until_half).status().code(), StatusCode::kCancelled);
  ASSERT_GT(shares.size(), 3u);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LT(shares.back(), 0.7);
  EXPECT_NE(Loaded(), nullptr);
}

TEST_F(SimulatedGpuTest, TheWaitForAnotherBuildOfTheEngineIsABuildThatCanBeGivenUp) {
  batches_ = {1};
  (void)Loaded();
  std::string lock;
  for (const auto& entry : std::filesystem::directory_iterator(cache_)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() == ".engine") std::filesystem::remove(entry.path());
    if (entry.path().extension() == ".lock" && !name.starts_with("timing_")) lock = entry.path();
  }
  std::vector<double> shares;
  const auto three_times = [&](double share) {
    shares.push_back(share);
    return shares.size() < 3;
  };
  {
    const ScopedFd held(open(lock.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(flock(held.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(Load(three_times).status().code(), StatusCode::kCancelled);
    EXPECT_EQ(shares, std::vector<double>(3, 0));
  }
  EXPECT_NE(Loaded(), nullptr);
}

TEST_F(SimulatedGpuTest, AKeptEngineIsBuiltAgainOnlyForAnotherFileAlsoOfTheSameNameAndSize) {
  batches_ = {1};
  WriteCutModel();
  EXPECT_EQ(BuildsToLoad(), 1);
  EXPECT_EQ(BuildsToLoad(), 0);
  std::fstream file(model_, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  file.seekp(static_cast<std::streamoff>(bytes.find("'c1'") + 1));
  file << "d1" << std::flush;
  EXPECT_EQ(BuildsToLoad(), 1);
  EXPECT_EQ(BuildsToLoad(), 0);
}

TEST_F(SimulatedGpuTest, AnEngineSaysWhichFilesKeepItWhetherBuiltOrLoaded) {
  for (int load = 0; load < 2; ++load) {
    const auto engine = Loaded();
    ASSERT_NE(engine, nullptr);
    ASSERT_EQ(engine->batches().engines.size(), 2u);
    for (const BatchEngine& each : engine->batches().engines) {
      EXPECT_TRUE(each.file.ends_with(".engine")) << each.file;
      EXPECT_TRUE(std::filesystem::exists(cache_ / each.file)) << each.file;
    }
  }
  const auto unkept = LoadGpuEngine(model_, {}, nullptr);
  ASSERT_TRUE(unkept.ok()) << unkept.status().message();
  EXPECT_EQ((*unkept)->batches().engines.front().file, "");
}

TEST_F(SimulatedGpuTest, ANewEngineThatTensorRtRefusesIsAReason) {
  simulated::FailCall(Call::kDeserialize, cudaErrorUnknown, 0);
  const auto engine = Load();
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.status().code(), StatusCode::kInvalidModel);
  EXPECT_GT(engine.status().message().size(), 20u);
  EXPECT_EQ(simulated::UsedBytes(0), 0u);
}

TEST_F(SimulatedGpuTest, AKeptEngineThatTensorRtRefusesIsBuiltAnew) {
  (void)Loaded();
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(cache_)) {
    if (entry.path().extension() == ".engine") path = entry.path();
  }
  const auto whole = std::filesystem::file_size(path);
  for (const uintmax_t cut : {uintmax_t{0}, uintmax_t{5}, whole / 2, whole - 1}) {
    std::filesystem::resize_file(path, cut);
    EXPECT_EQ(BuildsToLoad(), 1) << cut;
    EXPECT_EQ(std::filesystem::file_size(path), whole);
    EXPECT_EQ(BuildsToLoad(), 0) << cut;
  }
  std::ofstream(path, std::ios::binary) << std::string(20'000, 'x');
  EXPECT_EQ(BuildsToLoad(), 1);
  EXPECT_EQ(BuildsToLoad(), 0);
}

TEST_F(SimulatedGpuTest, OnlyGpusThatAreNewEnoughAreUsed) {
  simulated::PlugIn({{"Volta", 7, 0}});
  const Status old = Load().status();
  EXPECT_EQ(old.code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(old.message().find("7.5 (Turing)"), std::string::npos) << old.message();
  EXPECT_EQ(UsableGpus().status().message(), old.message());
  simulated::PlugIn({{"Volta", 7, 0}, {"Hopper", 9, 0}});
  const auto usable = UsableGpus();
  ASSERT_TRUE(usable.ok());
  ASSERT_EQ(usable->size(), 1u);
  EXPECT_EQ(usable->front().index, 1);
  EXPECT_EQ(usable->front().name, "Hopper");
  EXPECT_EQ(Load().status().code(), StatusCode::kGpuUnavailable);
  simulated::PlugIn({});
  EXPECT_EQ(Load().status().code(), StatusCode::kGpuUnavailable);
}

// CUDA has one error for this and for a GPU that a running process lost.
TEST_F(SimulatedGpuTest, ADriverThatDoesNotStartIsNoLostGpu) {
  simulated::FailCall(Call::kDeviceCount, cudaErrorUnknown);
  const Status listed = UsableGpus().status();
  EXPECT_EQ(listed.code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(listed.message().find("nvidia-smi"), std::string::npos) << listed.message();
  EXPECT_TRUE(UsableGpus().ok());
}

TEST_F(SimulatedGpuTest, AnEngineUsesTheGpuOfItsOrdinalOnly) {
  simulated::PlugIn({{"First"}, {"Second"}, {"Third"}});
  const auto engine = Load(nullptr, 1);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  EXPECT_EQ((*engine)->info().device, "Second");
  EXPECT_GT((*engine)->batches().memory_bytes, 0u);
  // On threads whose current GPU is another one.
  Boxes boxes;
  std::thread([&] { EXPECT_TRUE(Run(**engine, 0, &boxes, WorkClass::kAsync).ok()); }).join();
  EXPECT_FALSE(boxes.empty());
  for (const int other : {0, 2}) {
    EXPECT_EQ(simulated::UsedBytes(other), 0u);
    EXPECT_EQ(simulated::WorkDone(other), 0u);
  }
  EXPECT_GT(simulated::UsedBytes(1), 0u);
  const Status missing = Load(nullptr, 3).status();
  EXPECT_EQ(missing.code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(missing.message().find("There is no GPU 3"), std::string::npos) << missing.message();
}

TEST_F(SimulatedGpuTest, AJpegStaysOnTheGpuWhereItsEnginesDecode) {
  ASSERT_TRUE(InitDecoders().ok());
  GpuEngineOptions options;
  const auto decoder = OpenJpegEngines(0);
  if (!decoder.ok()) GTEST_SKIP() << decoder.status().message();
  options.decoder = *decoder;
  const auto engine = LoadWholeGpuEngine(model_, options);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  std::ifstream stream(LATTICE_SOURCE_DIR "/models/demo/street.jpg", std::ios::binary);
  const std::vector<uint8_t> file{std::istreambuf_iterator<char>(stream), {}};
  const auto input = (*engine)->Take(DescribeEncoded(file), {});
  ASSERT_TRUE(input.ok()) << input.status().message();
  EXPECT_EQ((*input)->decoded_by, DecodedBy::kHardware);
  EXPECT_EQ((*input)->width, 960);
  EXPECT_EQ((*input)->pixel_bytes(), 0u);  // on the host
  const EngineItem item{input->get(), &options_};
  EXPECT_TRUE((*engine)->Run(WorkClass::kSync, 0, Width::kOneShare, {&item, 1}).ok());
}

// 3 x 3 tiles and the whole, as one batch.
TEST_F(SimulatedGpuTest, APictureIsCopiedToTheGpuOnceForAllOfItsPartsInABatch) {
  batches_ = {16};
  const auto engine = Loaded();
  ASSERT_NE(engine, nullptr);
  // Bytes that a batch copies; what it is asked for has one size.
  const auto copied_for = [&](std::span<const std::unique_ptr<EngineInput>> inputs) {
    std::vector<EngineItem> items;
    for (const auto& input : inputs) items.push_back({input.get(), &options_});
    const size_t before = simulated::CopiedBytes(0);
    EXPECT_TRUE(engine->Run(WorkClass::kAsync, 0, Width::kOneShare, items).ok());
    return simulated::CopiedBytes(0) - before;
  };
  EngineInputs pixels;
  while (pixels.size() < 10) pixels.push_back(*TakeWhole(*engine, Scene(1, 1, 1)));
  (void)copied_for(pixels);  // makes the batch size ready
  const size_t requests = copied_for(pixels) - pixels.size() * 3;

  constexpr size_t kPicture = size_t{3} * 1200 * 900;
  Image picture{1200, 900, ByteBuffer(&engine->pixel_memory())};
  picture.data = Scene(2, 1200, 900).data;
  const size_t pinned = simulated::PinnedBytes();
  std::vector<Rect> parts{{0, 0, 1200, 900}};
  for (int tile = 0; tile < 9; ++tile)
    parts.push_back({350 * (tile % 3), 250 * (tile / 3), 500, 400});
  EngineInputs tiles = *engine->Take(std::move(picture), parts);
  EXPECT_EQ(simulated::PinnedBytes(), pinned) << "the parts are no copies";
  ASSERT_EQ(tiles.size(), 10u);
  for (const auto& tile : tiles) {
    EXPECT_EQ(tile->shared_bytes, kPicture);
    EXPECT_EQ(tile->pixel_bytes(), 0u);
  }
  EXPECT_EQ(copied_for(tiles) - requests, kPicture);
  // Without the whole, the middle column: as wide as one tile. Bytes of the nine pixels beside.
  const auto middle = [&](size_t row) { return std::move(tiles[2 + 3 * row]); };
  EngineInputs column;
  for (size_t row = 0; row < 3; ++row) column.push_back(middle(row));
  tiles.clear();
  while (column.size() < 10) column.push_back(std::move(pixels[column.size()]));
  EXPECT_EQ(copied_for(column) - requests, size_t{3} * 500 * 900 + size_t{3} * 7);
}

TEST_F(SimulatedGpuTest, RunsHoldNoMemoryAndNeverDiffer) {
  const auto engine = Loaded();
  std::optional<Boxes> expected;
  std::optional<std::pair<size_t, size_t>> held;
  for (int round = 0; round < 40; ++round) {
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      for (int slot = 0; slot < engine->slots(work_class); ++slot) {
        Boxes boxes;
        ASSERT_TRUE(Run(*engine, slot, &boxes, work_class).ok());
        if (!expected) expected = boxes;
        ASSERT_EQ(boxes, *expected);
      }
    }
    const std::pair now(simulated::UsedBytes(0), simulated::PinnedBytes());
    if (!held) held = now;
    EXPECT_EQ(now, *held);
  }
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
