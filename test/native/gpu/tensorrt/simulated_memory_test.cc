// Memory and resources that the GPU engine takes while it serves: nothing, once it has seen such
// batches. In builds with LATTICE_SIMULATED_GPU only.
#ifdef LATTICE_SIMULATED_GPU
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/cuda/owners.h"
#include "native/gpu/gpu_engine.h"
#include "native/gpu/jpeg/photo_sides.h"
#include "test/native/engine/tiny_scene.h"
#include "test/native/engine/whole_gpu_engine.h"
#include "test/native/model/head_writer.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice {
namespace {

using simulated::Call;

size_t Sum(const std::vector<Call>& calls) {
  size_t sum = 0;
  for (const Call call : calls) sum += simulated::CallsOf(call);
  return sum;
}

size_t MemoryCalls() {
  return Sum({Call::kMalloc, Call::kFree, Call::kHostAlloc, Call::kFreeHost});
}

size_t ThingsMade() {
  return Sum({Call::kCreateContext, Call::kGraphInstantiate, Call::kStreamCreate});
}

// Planes of a camera's photo, as a decoder of the CPU gives them.
Image Photo(const PhotoSides& sides) {
  Image photo{sides.width, sides.height, {}, PixelLayout::kYuv420};
  photo.data.assign(StoredPlanes(photo).bytes, 128);
  return photo;
}

class SimulatedMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(InitDecoders().ok());
    simulated::PlugIn({{}});
    model_ = std::filesystem::path(testing::TempDir()) / "lattice-memory-head.onnx";
    test::HeadOptions head;
    head.batch = 0;
    std::ofstream(model_, std::ios::binary) << test::HeadWriter(head).Model();
  }
  void TearDown() override { std::filesystem::remove(model_); }

  std::unique_ptr<Engine> Loaded(const GpuEngineOptions& options = {}) {
    auto engine = LoadWholeGpuEngine(model_, options);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return engine.ok() ? *std::move(engine) : nullptr;
  }

  // `take` gives the inputs of a batch, which are all held until it has ended.
  template <typename Take>
  void Run(Engine& engine, WorkClass work_class, int slot, int images, Take take) {
    std::vector<std::unique_ptr<EngineInput>> inputs;
    std::vector<EngineItem> items;
    for (int i = 0; i < images; ++i) {
      auto input = take(i);
      ASSERT_TRUE(input.ok()) << input.status().message();
      inputs.push_back(*std::move(input));
      items.push_back({inputs.back().get(), &options_});
    }
    const Status ran = engine.Run(work_class, slot, Width::kOneShare, items);
    ASSERT_TRUE(ran.ok()) << ran.message();
  }

  std::filesystem::path model_;
  const DetectionOptions options_;
};

TEST_F(SimulatedMemoryTest, EveryBatchSizeOfEverySlotIsReadyAfterTheLoad) {
  const auto engine = Loaded();
  ASSERT_NE(engine, nullptr);
  const size_t made = ThingsMade();
  const size_t used = simulated::UsedBytes(0);
  const Image usual = Photo(kUsualPhoto);
  for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
    for (int slot = 0; slot < engine->slots(work_class); ++slot) {
      for (int images = 1; images <= engine->max_batch(work_class); images *= 2) {
        Run(*engine, work_class, slot, images, [&](int) { return TakeWhole(*engine, usual); });
      }
    }
  }
  EXPECT_EQ(ThingsMade(), made);
  EXPECT_EQ(simulated::UsedBytes(0), used);
}

TEST_F(SimulatedMemoryTest, BatchesOfPicturesAsBeforeTakeAndFreeNoMemory) {
  GpuEngineOptions options;
  if (const auto decoder = OpenJpegEngines(0); decoder.ok()) options.decoder = *decoder;
  const auto engine = Loaded(options);
  ASSERT_NE(engine, nullptr);
  std::ifstream stream(LATTICE_SOURCE_DIR "/models/demo/street.jpg", std::ios::binary);
  const std::vector<uint8_t> file{std::istreambuf_iterator<char>(stream), {}};
  const std::vector<Image> pictures = {Scene(1), Scene(2, 3000, 2000), Photo(kUsualPhoto)};
  const auto take = [&](int i) {
    const auto which = static_cast<size_t>(i) % (pictures.size() + 1);
    return which < pictures.size() ? TakeWhole(*engine, pictures[which])
                                   : engine->Take(DescribeEncoded(file), {});
  };
  const auto round = [&] {
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      for (int slot = 0; slot < engine->slots(work_class); ++slot) {
        for (const int images : {1, 2, 3, 8, 13, 32}) {
          if (images > engine->max_batch(work_class)) continue;
          Run(*engine, work_class, slot, images, take);
        }
      }
    }
  };
  round();
  const size_t before = MemoryCalls();
  const size_t made = ThingsMade();
  round();
  EXPECT_EQ(MemoryCalls(), before);
  EXPECT_EQ(ThingsMade(), made);
}

TEST_F(SimulatedMemoryTest, AFullBatchOfLargePhotosStaysPinned) {
  GpuEngineOptions options;
  options.batches = {1, 20};
  const auto engine = Loaded(options);
  ASSERT_NE(engine, nullptr);
  const Image large = Photo(kLargePhoto);
  const auto batch = [&] {
    Run(*engine, WorkClass::kAsync, 0, 20, [&](int) { return TakeWhole(*engine, large); });
  };
  batch();
  const size_t before = MemoryCalls();
  batch();
  EXPECT_EQ(MemoryCalls(), before);
}

TEST_F(SimulatedMemoryTest, GpuMemoryIsTakenAndFreedBesideWorkThatGoesOn) {
  ASSERT_TRUE(UseGpu(0).ok());
  const Stream stream = *Stream::Create(Stream::Priority::kLow);
  const DeviceBuffer used = *DeviceBuffer::Allocate(100);
  simulated::Hang(0);
  ASSERT_EQ(cudaMemsetAsync(used.data(), 1, used.size(), stream.get()), cudaSuccess);
  auto beside = std::async(std::launch::async, [] {
    return UseGpu(0).ok() && DeviceBuffer::Allocate(size_t{1} << 20).ok();
  });
  EXPECT_EQ(beside.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  simulated::Release(0);
  EXPECT_TRUE(beside.get());
  EXPECT_TRUE(stream.Synchronize().ok());
}

TEST_F(SimulatedMemoryTest, ALargerBatchTakesItsMemoryOnAGpuWithoutAPoolToo) {
  GpuEngineOptions options;
  options.batches = {1, 2};
  const Image large = Photo({4000, 4000});
  const auto engine = Loaded(options);
  ASSERT_NE(engine, nullptr);
  const size_t used = simulated::UsedBytes(0);
  simulated::FailCall(Call::kMalloc, cudaErrorNotSupported);
  Run(*engine, WorkClass::kAsync, 0, 2, [&](int) { return TakeWhole(*engine, large); });
  EXPECT_GT(simulated::UsedBytes(0), used);
  simulated::FailCall(Call::kMalloc, cudaErrorMemoryAllocation);
  const auto input = TakeWhole(*engine, large);
  ASSERT_TRUE(input.ok());
  const EngineItem item{input->get(), &options_};
  const auto alone = [&] {
    return engine->Run(WorkClass::kAsync, 1, Width::kOneShare, {&item, 1});
  };
  EXPECT_EQ(alone().code(), StatusCode::kOverloaded);
  EXPECT_TRUE(alone().ok());
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_SIMULATED_GPU
