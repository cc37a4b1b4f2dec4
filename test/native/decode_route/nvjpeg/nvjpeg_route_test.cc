#include "native/decode_route/nvjpeg/nvjpeg_route.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "native/base/abandoned_gpu.h"
#include "native/base/stopwatch.h"
#include "native/decode_route/decode_router.h"
#include "test/native/decode_route/nvjpeg/simulated_nvjpeg.h"
#include "test/native/decode_route/simulated_devices.h"

namespace lattice::test {
namespace {

constexpr size_t kRoomy = size_t{1} << 30;

struct Shape {
  int lanes = 1;
  int most_batch = 1;
  double patience_ms = 60'000;
  size_t most_bytes = kRoomy;
  int most_blocks = 1 << 30;
  int gpu = 3;
};

std::unique_ptr<NvJpegRoute> RouteOn(const std::shared_ptr<SimulatedNvJpeg>& device,
                                     const Shape& shape) {
  NvJpegRouteOptions options;
  options.name = options.resource = "nvjpeg";
  options.gpu = shape.gpu;
  options.most_batch = shape.most_batch;
  options.patience_ms = shape.patience_ms;
  return std::make_unique<NvJpegRoute>(
      options, device, device->MakeLanes(shape.lanes),
      PlanePool::Create(shape.most_bytes, HostPlanes(shape.most_blocks)));
}

// An image under way; the answer may come from any thread.
class Asked {
 public:
  Asked(NvJpegRoute& route, const DecodeRequest& request) {
    route.Start(request, caller_,
                [this](RouteAnswer answer) { answer_.set_value(std::move(answer)); });
  }
  bool answered() { return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  RouteAnswer Get() { return future_.get(); }

 private:
  NoCaller caller_;
  std::promise<RouteAnswer> answer_;
  std::future<RouteAnswer> future_ = answer_.get_future();
};

TEST(NvJpegRoute, TakesWhatItsDecodersAndReadersCan) {
  const auto device = std::make_shared<SimulatedNvJpeg>();
  const auto route = RouteOn(device, {2, 4});
  EXPECT_EQ(route->description().places, 8);
  const auto takes = [&](const std::function<void(DecodeRequest&)>& change) {
    NvJpegFile file(1);
    change(file.request);
    return route->Takes(file.request);
  };
  EXPECT_TRUE(takes([](DecodeRequest&) {}));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.gpu_images = false; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.encoded.format = ImageFormat::kPng; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.encoded.jpeg.process = 2; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.encoded.jpeg.precision = 12; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.encoded.jpeg.rgb_coded = true; }));
  EXPECT_TRUE(takes([](DecodeRequest& r) { r.encoded.jpeg.exif_orientation = 6; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.encoded.jpeg.sampling = {0x11, 0x11, 0x11}; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.encoded.jpeg.components = 1; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.encoded.jpeg.width = 8; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.limits.max_side = 63; }));
  EXPECT_FALSE(takes([](DecodeRequest& r) { r.limits.max_pixels = 64 * 48 - 1; }));
  const auto small = RouteOn(device, {1, 1, 60'000, size_t{1} << 20});
  NvJpegFile large(1, NvJpegFile::kNone, 1000, 1000);
  EXPECT_FALSE(small->Takes(large.request)) << "one picture must leave room for others";
}

TEST(NvJpegRoute, LeavesThePlanesOnItsGpu) {
  const auto device = std::make_shared<SimulatedNvJpeg>();
  const auto route = RouteOn(device, {});
  NvJpegFile file(7, NvJpegFile::kNone, 333, 101);
  const RouteAnswer answer = Asked(*route, file.request).Get();
  ASSERT_EQ(answer.verdict, RouteVerdict::kAnswered);
  ASSERT_TRUE(answer.image.ok());
  const DecodedImage& image = *answer.image;
  EXPECT_EQ(image.source_width, 333);
  EXPECT_EQ(image.source_height, 101);
  EXPECT_EQ(image.reduction, 1);
  EXPECT_EQ(image.on_gpu.gpu, 3);
  EXPECT_EQ(image.on_gpu.width, 333);
  EXPECT_EQ(image.on_gpu.height, 101);
  EXPECT_GE(image.on_gpu.pitches[0], 333);
  EXPECT_GE(image.on_gpu.pitches[1], 167);
  EXPECT_TRUE(Holds(image.on_gpu, 7));
}

TEST(NvJpegRoute, TurnedPicturesStayAsTheyAreStored) {
  const auto route = RouteOn(std::make_shared<SimulatedNvJpeg>(), {});
  for (int orientation = 1; orientation <= 8; ++orientation) {
    NvJpegFile file(7, NvJpegFile::kNone, 333, 101);
    file.request.encoded.jpeg.exif_orientation = orientation;
    const RouteAnswer answer = Asked(*route, file.request).Get();
    ASSERT_TRUE(answer.image.ok());
    const DecodedImage& image = *answer.image;
    const bool quarter = orientation > 4;
    EXPECT_EQ(image.on_gpu.orientation, orientation);
    EXPECT_EQ(image.on_gpu.width, quarter ? 101 : 333);
    EXPECT_EQ(image.on_gpu.height, quarter ? 333 : 101);
    EXPECT_EQ(image.on_gpu.stored_height(), 101);
    EXPECT_EQ(image.source_width, image.on_gpu.width);
    EXPECT_EQ(image.source_height, image.on_gpu.height);
    EXPECT_GE(image.on_gpu.pitches[0], 333);
  }
}

TEST(NvJpegRoute, RefusesAtOnceWhatTheDeviceDoesNotSupportOrTheFileDoesNotEnd) {
  const auto device = std::make_shared<SimulatedNvJpeg>();
  const auto route = RouteOn(device, {});
  NvJpegFile unsupported(1, NvJpegFile::kUnsupported);
  NvJpegFile cut(2);
  cut.request.encoded.bytes = std::span(cut.bytes).first(cut.bytes.size() - 1);
  for (const DecodeRequest* request : {&unsupported.request, &cut.request}) {
    Asked asked(*route, *request);
    ASSERT_TRUE(asked.answered());
    EXPECT_EQ(asked.Get().verdict, RouteVerdict::kRefused);
  }
  EXPECT_TRUE(device->batches().empty());
}

TEST(NvJpegRoute, FreeLaneTakesWhatWaitsAndNeverWaitsForMore) {
  const auto device = std::make_shared<SimulatedNvJpeg>();
  const auto route = RouteOn(device, {1, 4});
  std::deque<NvJpegFile> files;
  std::deque<Asked> asked;
  device->Hang();
  for (int i = 0; i < 10; ++i) {
    asked.emplace_back(*route, files.emplace_back(i).request);
    if (i == 0) device->WaitForBatches(1);
  }
  device->Release();
  for (int i = 0; i < 10; ++i) {
    const RouteAnswer answer = asked[static_cast<size_t>(i)].Get();
    ASSERT_TRUE(answer.image.ok());
    EXPECT_TRUE(Holds(answer.image.ok() ? (*answer.image).on_gpu : GpuImage{}, i));
  }
  EXPECT_EQ(device->batches(), (std::vector<size_t>{1, 4, 4, 1}));
}

TEST(NvJpegRoute, OneUndecodableFileIsRefusedAloneAndNeverFailed) {
  const auto device = std::make_shared<SimulatedNvJpeg>();
  const auto route = RouteOn(device, {1, 8});
  std::deque<NvJpegFile> files;
  std::deque<Asked> asked;
  device->Hang();
  for (int i = 0; i < 7; ++i) {
    const auto fault = i == 4 ? NvJpegFile::kUndecodable : NvJpegFile::kNone;
    asked.emplace_back(*route, files.emplace_back(i, fault).request);
    if (i == 0) device->WaitForBatches(1);
  }
  device->Release();
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(asked[static_cast<size_t>(i)].Get().verdict,
              i == 4 ? RouteVerdict::kRefused : RouteVerdict::kAnswered);
  }
  EXPECT_EQ(device->batches(), (std::vector<size_t>{1, 6, 1, 1, 1, 1, 1, 1}));
}

TEST(NvJpegRoute, RefusesWhileItsMemoryIsFull) {
  const auto device = std::make_shared<SimulatedNvJpeg>();
  const auto route = RouteOn(device, {1, 1, 60'000, kRoomy, 2});
  NvJpegFile file(1);
  std::vector<RouteAnswer> held;
  for (int i = 0; i < 2; ++i) held.push_back(Asked(*route, file.request).Get());
  EXPECT_EQ(Asked(*route, file.request).Get().verdict, RouteVerdict::kRefused);
  held.pop_back();
  // The block comes back with the lane's own copy, which goes before its next batch.
  EXPECT_EQ(Asked(*route, file.request).Get().verdict, RouteVerdict::kAnswered);
}

TEST(NvJpegRoute, HungDeviceIsLostWithinThePatienceAndNobodyWaitsForIt) {
  const auto device = std::make_shared<SimulatedNvJpeg>();
  {
    const auto route = RouteOn(device, {2, 2, 100, kRoomy, 1 << 30, 84});
    NvJpegFile first(1);
    EXPECT_EQ(Asked(*route, first.request).Get().verdict, RouteVerdict::kAnswered);
    device->Hang();
    {
      // The files go with their answers: the hung lanes must not look at them any more.
      std::deque<NvJpegFile> files;
      std::deque<Asked> asked;
      const Clock::time_point start = Clock::now();
      for (int i = 0; i < 7; ++i) asked.emplace_back(*route, files.emplace_back(i).request);
      for (Asked& one : asked) EXPECT_EQ(one.Get().verdict, RouteVerdict::kLost);
      const double ms = Milliseconds(Clock::now() - start);
      EXPECT_GE(ms, 99);
      EXPECT_LT(ms, 5000);
    }
    Asked late(*route, first.request);
    ASSERT_TRUE(late.answered());
    EXPECT_EQ(late.Get().verdict, RouteVerdict::kLost);
  }
  // For the slots of the network too: freeing their memory would wait for the batch.
  EXPECT_TRUE(IsGpuAbandoned());
  device->Release();
}

TEST(NvJpegRoute, IdleOrSlowDeviceIsNotLost) {
  const auto device = std::make_shared<SimulatedNvJpeg>(std::chrono::milliseconds(200));
  const auto route = RouteOn(device, {1, 1, 1'000});
  std::deque<NvJpegFile> files;
  std::deque<Asked> asked;
  // The last waits longer than the patience, but no batch takes as long.
  for (int i = 0; i < 6; ++i) asked.emplace_back(*route, files.emplace_back(i).request);
  for (Asked& one : asked) EXPECT_EQ(one.Get().verdict, RouteVerdict::kAnswered);
  std::this_thread::sleep_for(std::chrono::milliseconds(1'200));
  EXPECT_EQ(Asked(*route, files[0].request).Get().verdict, RouteVerdict::kAnswered);
}

TEST(NvJpegRoute, FaultLosesWhatIsInHandAndWaiting) {
  const auto device = std::make_shared<SimulatedNvJpeg>();
  const auto route = RouteOn(device, {1, 2});
  std::deque<NvJpegFile> files;
  std::deque<Asked> asked;
  device->Hang();
  for (int i = 0; i < 6; ++i) {
    asked.emplace_back(*route, files.emplace_back(i).request);
    if (i == 0) device->WaitForBatches(1);
  }
  device->FaultAfter(1);
  device->Release();
  for (size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(asked[i].Get().verdict, i == 0 ? RouteVerdict::kAnswered : RouteVerdict::kLost);
  }
}

}  // namespace
}  // namespace lattice::test
