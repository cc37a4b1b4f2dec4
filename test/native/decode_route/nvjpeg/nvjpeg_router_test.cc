// The router's promises with nvJPEG routes in it, on real threads.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "native/decode_route/decode_router.h"
#include "native/decode_route/nvjpeg/nvjpeg_route.h"
#include "test/native/decode_route/nvjpeg/simulated_nvjpeg.h"

namespace lattice::test {
namespace {

class CoreRoute final : public DecodeRoute {
 public:
  const RouteDescription& description() const override { return description_; }
  bool Takes(const DecodeRequest&) const override { return true; }
  void Start(const DecodeRequest& request, CallerThread& caller, OnRouteAnswer on_answer) override {
    caller.Run([&request, on_answer = std::move(on_answer)] {
      std::this_thread::sleep_for(std::chrono::microseconds(900));
      const int number = NvJpegFile::NumberIn(request.encoded.bytes.data());
      on_answer({RouteVerdict::kAnswered, DecodedImage{{}, number, 0, 1}});
    });
  }

 private:
  const RouteDescription description_{"cpu", "cpu", 4, {}};
};

// How the engines end.
struct Fate {
  bool hangs = false;
  int faults_after = -1;
};

std::unique_ptr<DecodeRoute> Device(const std::string& name,
                                    std::shared_ptr<SimulatedNvJpeg> device, int lanes,
                                    int most_batch, size_t most_bytes) {
  NvJpegRouteOptions options;
  options.name = options.resource = name;
  options.gpu = 0;
  options.most_batch = most_batch;
  options.patience_ms = 150;
  auto made = device->MakeLanes(lanes);
  return std::make_unique<NvJpegRoute>(options, std::move(device), std::move(made),
                                       PlanePool::Create(most_bytes, HostPlanes()));
}

NvJpegFile::Fault FaultOf(int number) {
  if (number % 11 == 0) return NvJpegFile::kUnsupported;
  return number % 17 == 0 ? NvJpegFile::kUndecodable : NvJpegFile::kNone;
}

// How many of `threads` x `images` got an image that is their own.
int Right(DecodeRouter& router, int threads, int images, const std::function<void(int)>& on_image) {
  std::atomic<int> right = 0;
  std::vector<std::thread> callers;
  for (int thread = 0; thread < threads; ++thread) {
    callers.emplace_back([&, thread] {
      std::mt19937 random(static_cast<unsigned>(thread));
      for (int i = 0; i < images; ++i) {
        const int number = 1 + thread * images + i;
        on_image(number);
        const int width = std::uniform_int_distribution(32, 2000)(random);
        NvJpegFile file(number, FaultOf(number), width, 700);
        file.request.gpu_images = number % 5 != 0;
        file.request.sync = number % 3 == 0;
        const auto decoded = router.Decode(file.request);
        if (!decoded.ok()) continue;
        const bool on_gpu = decoded->on_gpu.gpu >= 0;
        const bool may = file.request.gpu_images && FaultOf(number) == NvJpegFile::kNone;
        if (on_gpu ? may && Holds(decoded->on_gpu, number) : decoded->source_width == number) {
          ++right;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  return right;
}

TEST(NvJpegRouter, EveryImageIsItsOwnUnderRefusalsFullMemoryLossesAndHangs) {
  constexpr int kThreads = 8;
  constexpr int kImages = 150;
  const Fate fates[] = {{}, {false, 20}, {true, -1}};
  for (const Fate& fate : fates) {
    const auto engines = std::make_shared<SimulatedNvJpeg>(std::chrono::microseconds(300));
    const auto kernels = std::make_shared<SimulatedNvJpeg>(std::chrono::microseconds(500));
    if (fate.faults_after >= 0) engines->FaultAfter(fate.faults_after);
    {
      std::vector<std::unique_ptr<DecodeRoute>> routes;
      routes.push_back(std::make_unique<CoreRoute>());
      routes.push_back(Device("engines", engines, 2, 4, size_t{6} << 20));
      routes.push_back(Device("kernels", kernels, 1, 1, size_t{1} << 30));
      DecodeRouter router(std::move(routes));
      const int right = Right(router, kThreads, kImages, [&](int number) {
        if (fate.hangs && number % kImages == 50) engines->Hang();
      });
      EXPECT_EQ(right, kThreads * kImages);
      const auto stats = router.stats();
      EXPECT_EQ(stats[0].decoded + stats[1].decoded + stats[2].decoded,
                static_cast<uint64_t>(kThreads * kImages));
      EXPECT_EQ(stats[1].lost, fate.hangs || fate.faults_after >= 0);
      EXPECT_FALSE(stats[2].lost);
      EXPECT_GT(stats[1].decoded, 0u);
    }
    engines->Release();
  }
}

}  // namespace
}  // namespace lattice::test
