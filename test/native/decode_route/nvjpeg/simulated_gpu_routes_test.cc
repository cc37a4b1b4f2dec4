// The decode routes of GPUs that are played on the host, by a nvJPEG that is played there too. In
// builds with LATTICE_SIMULATED_GPU only. On a real GPU gpu_routes_test compares the pixels.
#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "native/base/abandoned_gpu.h"
#include "native/cuda/gpu_device.h"
#include "native/cuda/owners.h"
#include "native/decode_route/cpu_routes.h"
#include "native/decode_route/decode_router.h"
#include "native/decode_route/nvjpeg/gpu_routes.h"
#include "native/image/sample_jpeg.h"
#include "test/native/decode_route/nvjpeg/planes.h"
#include "test/native/preprocess/jpeg_samples.h"
#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice::test {
namespace {

using simulated::Call;

DecodeRequest RequestFor(const File& file) {
  DecodeRequest request;
  request.encoded = DescribeEncoded(file);
  request.wanted = PixelLayout::kYuv420;
  request.gpu_images = true;
  return request;
}

int LargestGap(const File& a, const File& b) {
  EXPECT_EQ(a.size(), b.size());
  int largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

class SimulatedGpuRoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(InitDecoders().ok());
    simulated::PlugIn({{}});
    ASSERT_TRUE(UseGpu(0).ok());
    pinned_before_ = simulated::PinnedBytes();
  }

  // The routes of the GPUs, of `names` only where there are any, and behind them the cores.
  static std::unique_ptr<DecodeRouter> Router(const std::vector<std::string>& names = {},
                                              bool cores = true) {
    GpuRoutes opened = OpenGpuRoutes(names, 30);
    for (const std::string& reason : opened.missing) ADD_FAILURE() << reason;
    auto routes = std::move(opened.routes);
    if (cores) {
      for (auto& route : CpuRoutes({.places = 2})) routes.push_back(std::move(route));
    }
    return std::make_unique<DecodeRouter>(std::move(routes));
  }

  static File Noise(int width, int height, int sampling = TJSAMP_420, int flags = 0) {
    std::mt19937 random(static_cast<unsigned>(width * 10'000 + height));
    File file = NoiseJpeg(width, height, sampling, flags, random);
    EXPECT_FALSE(file.empty());
    return file;
  }

  static uint64_t DecodedBy(const DecodeRouter& router, const std::string& name) {
    uint64_t sum = 0;
    for (const RouteStats& route : router.stats()) {
      if (route.name == name) sum += route.decoded;
    }
    return sum;
  }

  static RouteStats StatsOf(const DecodeRouter& router, const std::string& name) {
    for (RouteStats& route : router.stats()) {
      if (route.name == name) return route;
    }
    ADD_FAILURE() << name << " is no route";
    return {};
  }

  size_t pinned_before_ = 0;  // what earlier tests left on lost GPUs
};

TEST_F(SimulatedGpuRoutesTest, TheFirstUsableGpuHasTwoUnlessItHasNoEngines) {
  simulated::GpuKind without{"Turing", 7, 5};
  without.jpeg_engines = 0;
  for (const bool engines : {true, false}) {
    const simulated::GpuKind first = engines ? simulated::GpuKind{} : without;
    simulated::PlugIn({{"Volta", 7, 0}, first, {}});
    const GpuRoutes opened = OpenGpuRoutes({}, 30);
    ASSERT_EQ(opened.routes.size(), engines ? 2u : 1u);
    for (const auto& route : opened.routes) {
      const RouteDescription& shown = route->description();
      EXPECT_EQ(shown.gpu, 1);
      EXPECT_EQ(shown.places, shown.name == kNvJpegHardware ? 2 * 7 : 3);
    }
    if (engines) continue;
    ASSERT_EQ(opened.missing.size(), 1u);
    EXPECT_NE(opened.missing[0].find("not available on this GPU"), std::string::npos);
  }
}

TEST_F(SimulatedGpuRoutesTest, WhateverFailsWhileARouteIsOpenedIsAReasonAndLeavesNothing) {
  for (const Call call : {Call::kJpegHandle, Call::kJpegState, Call::kStreamCreate}) {
    for (const int passing : {0, 1}) {
      simulated::FailCall(call, cudaErrorMemoryAllocation, passing);
      const GpuRoutes opened = OpenGpuRoutes({}, 30);
      EXPECT_EQ(opened.routes.size(), 1u);
      ASSERT_EQ(opened.missing.size(), 1u);
      EXPECT_GT(opened.missing[0].size(), 20u);
    }
  }
  EXPECT_EQ(simulated::UsedBytes(0), 0u);
  EXPECT_EQ(simulated::PinnedBytes(), pinned_before_);
}

// It would refuse every picture, or take its first one for a GPU that hangs.
TEST_F(SimulatedGpuRoutesTest, ARouteThatCannotDecodeIsLeftOut) {
  for (const int passing : {0, 1}) {
    simulated::FailCall(Call::kJpegDecode, cudaErrorUnknown, passing);
    const GpuRoutes opened = OpenGpuRoutes({}, 30);
    ASSERT_EQ(opened.routes.size(), 1u);
    EXPECT_EQ(opened.routes[0]->description().name, kNvJpegCuda);
    ASSERT_EQ(opened.missing.size(), 1u);
    EXPECT_NE(opened.missing[0].find("GPU 0, nvjpeg hardware"), std::string::npos);
  }
  EXPECT_EQ(simulated::UsedBytes(0), 0u);
}

// Handles are bound to a GPU, threads are not.
TEST_F(SimulatedGpuRoutesTest, AThreadWithAnotherCurrentGpuIsServedAndKeepsIt) {
  simulated::PlugIn({{"First"}, {"Second"}});
  const auto file = MakeSampleJpeg(640, 480);
  ASSERT_TRUE(file.ok());
  for (const int gpu : {0, 1}) {
    auto router = Router({}, false);
    ASSERT_TRUE(UseGpu(gpu).ok());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(router->Decode(RequestFor(*file)).ok());
    for (const RouteStats& route : router->stats()) EXPECT_EQ(route.refused, 0u) << route.name;
    router.reset();
    int current = -1;
    ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, gpu);
    EXPECT_EQ(simulated::UsedBytes(0), 0u);
    EXPECT_EQ(simulated::UsedBytes(1), 0u);
  }
}

// Random sides and orientations, and photos.
TEST_F(SimulatedGpuRoutesTest, PlanesAreTheCpusButForLastBits) {
  std::vector<File> files;
  std::mt19937 random(7);
  for (int i = 0; i < 30; ++i) {
    files.push_back(
        Noise(32 + static_cast<int>(random() % 300), 32 + static_cast<int>(random() % 300)));
  }
  for (const auto& path : JpegsBeneath(LATTICE_SOURCE_DIR "/models/demo", 2)) {
    files.push_back(BytesOf(path));
  }
  for (const char* name : {kNvJpegHardware, kNvJpegCuda}) {
    const auto router = Router({name}, false);
    for (const File& file : files) {
      const auto decoded = router->Decode(RequestFor(file));
      const auto expected =
          Decode(file, {}, std::pmr::get_default_resource(), PixelLayout::kYuv420);
      ASSERT_TRUE(decoded.ok() && expected.ok()) << name;
      ASSERT_EQ(decoded->on_gpu.gpu, 0);
      EXPECT_EQ(decoded->on_gpu.width, expected->width);
      EXPECT_EQ(decoded->on_gpu.height, expected->height);
      const int gap = LargestGap(PlanesOf(decoded->on_gpu), PlanesOf(*expected));
      EXPECT_EQ(gap, name == std::string(kNvJpegHardware) ? 1 : 0)
          << name << ", " << expected->width << " x " << expected->height;
    }
    EXPECT_EQ(DecodedBy(*router, name), files.size());
  }
}

TEST_F(SimulatedGpuRoutesTest, WhatNvJpegDoesNotTakeIsTheCpus) {
  const File refused[] = {Noise(64, 48, TJSAMP_420, TJFLAG_PROGRESSIVE),
                          Noise(64, 48, TJSAMP_422),
                          Noise(64, 48, TJSAMP_444),
                          Noise(64, 48, TJSAMP_440),
                          Noise(64, 48, TJSAMP_411),
                          Noise(64, 48, TJSAMP_GRAY),
                          Noise(64, 31)};
  const auto router = Router();
  for (const File& file : refused) {
    const auto decoded = router->Decode(RequestFor(file));
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(decoded->on_gpu.gpu, -1);
    EXPECT_FALSE(decoded->pixels.data.empty());
  }
  EXPECT_EQ(DecodedBy(*router, "cpu"), std::size(refused));
}

// A file that nvJPEG does not decode goes to the next route, whose answer it gets.
TEST_F(SimulatedGpuRoutesTest, WhatFailsOnOneRouteIsDecodedByTheNext) {
  const File file = Noise(320, 240);
  for (const cudaError_t error : {cudaErrorInvalidValue, cudaErrorNotSupported,
                                  cudaErrorMemoryAllocation, cudaErrorUnknown}) {
    const auto router = Router({kNvJpegCuda});
    simulated::FailCall(Call::kJpegDecode, error);
    for (int i = 0; i < 20; ++i) {
      const auto decoded = router->Decode(RequestFor(file));
      ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    }
    EXPECT_EQ(StatsOf(*router, kNvJpegCuda).refused, 1u);
    EXPECT_FALSE(StatsOf(*router, kNvJpegCuda).lost);
    EXPECT_EQ(DecodedBy(*router, kNvJpegCuda) + DecodedBy(*router, "cpu"), 20u);
  }
}

// Only the host says that a file is damaged.
TEST_F(SimulatedGpuRoutesTest, ACutFileIsTheHostsToRefuse) {
  File file = Noise(320, 240);
  file.resize(file.size() / 2);
  const auto router = Router();
  EXPECT_EQ(router->Decode(RequestFor(file)).status().code(), StatusCode::kInvalidImage);
  EXPECT_EQ(DecodedBy(*router, "cpu"), 1u);
}

TEST_F(SimulatedGpuRoutesTest, ABatchWithAFileThatFailsIsDecodedOneByOne) {
  const File file = Noise(320, 240);
  const auto router = Router({kNvJpegHardware});
  simulated::FailCall(Call::kJpegDecode, cudaErrorInvalidValue, 8);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 12; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const auto decoded = router->Decode(RequestFor(file));
        ASSERT_TRUE(decoded.ok()) << decoded.status().message();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(StatsOf(*router, kNvJpegHardware).refused, 1u);
  EXPECT_EQ(DecodedBy(*router, kNvJpegHardware) + DecodedBy(*router, "cpu"), 60u);
}

TEST_F(SimulatedGpuRoutesTest, RoutesHoldNoMoreThanTheirPicturesAndLeaveNothing) {
  const auto file = MakeSampleJpeg(640, 480);
  ASSERT_TRUE(file.ok());
  auto router = Router({}, false);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(router->Decode(RequestFor(*file)).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Five lanes with what nvJPEG and the route keep for a picture, planes of four pictures, and what
  // the engines' two lanes keep for a batch of usual size.
  constexpr size_t kPixels = size_t{640} * 480;
  const size_t lane = 2 * (file->size() + 3 * kPixels) + 2 * file->size();
  EXPECT_LE(simulated::UsedBytes(0) + simulated::PinnedBytes() - pinned_before_,
            5 * lane + 4 * 2 * kPixels + 2 * (size_t{16} << 20));
  auto last = router->Decode(RequestFor(*file));
  ASSERT_TRUE(last.ok());
  router.reset();
  // The picture outlives its route.
  EXPECT_EQ(LargestGap(PlanesOf(last->on_gpu), PlanesOf(last->on_gpu)), 0);
  EXPECT_GT(simulated::UsedBytes(0), 0u);
  last = Status(StatusCode::kCancelled, "Gone.");
  EXPECT_EQ(simulated::UsedBytes(0), 0u);
  EXPECT_EQ(simulated::PinnedBytes(), pinned_before_);
}

TEST_F(SimulatedGpuRoutesTest, FullMemoryRefusesPictures) {
  simulated::PlugIn({{"Small", 9, 0, size_t{64} << 20}});
  const auto file = MakeSampleJpeg(800, 600);  // 0.7 MB as planes, of 4 MiB for each route
  ASSERT_TRUE(file.ok());
  const auto router = Router();
  std::vector<Result<DecodedImage>> kept;
  int on_gpu = 0;
  for (int i = 0; i < 24; ++i) {
    kept.push_back(router->Decode(RequestFor(*file)));
    ASSERT_TRUE(kept.back().ok());
    on_gpu += kept.back()->on_gpu.gpu == 0 ? 1 : 0;
  }
  EXPECT_GT(on_gpu, 0);
  EXPECT_LE(on_gpu, 2 * 5);
}

// In a process of its own, since a GPU that was left stays so.
TEST(SimulatedGpuRoutesDeathTest, AGpuThatHangsIsLeftAndItsPicturesAreDecodedElsewhere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [] {
    simulated::PlugIn({{}});
    bool good = InitDecoders().ok();
    const auto file = MakeSampleJpeg(640, 480);
    auto routes = std::move(OpenGpuRoutes({kNvJpegHardware}, 1).routes);
    for (auto& route : CpuRoutes({.places = 2})) routes.push_back(std::move(route));
    DecodeRouter router(std::move(routes));
    simulated::Hang(0);
    std::vector<std::thread> threads;
    std::atomic<int> decoded = 0;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { decoded += router.Decode(RequestFor(*file)).ok() ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    good = good && decoded == 4 && IsGpuAbandoned() && router.stats()[0].lost;
    std::exit(good ? 69 : 1);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(69), "");
}

}  // namespace
}  // namespace lattice::test
