#include "native/gpu/jpeg/hardware_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <thread>

#include "test/native/gpu/jpeg/simulated_engines.h"

namespace lattice::test {
namespace {

using Decoded = std::optional<Result<GpuImage>>;

StatusCode CodeOf(const Decoded& decoded) {
  return decoded ? decoded->status().code() : StatusCode::kUnsupportedImageFormat;
}

// Images under way, each on a thread of its own, in this order.
class Callers {
 public:
  explicit Callers(HardwareDecoder& decoder) : decoder_(decoder) {}

  void Start(NumberedFile::Fault fault = NumberedFile::kNone) {
    NumberedFile& file = files_.emplace_back(static_cast<int>(files_.size()), fault);
    decoded_.push_back(
        std::async(std::launch::async, [&] { return decoder_.TryDecode(file.encoded, {}); }));
  }
  Decoded Get(size_t number) { return decoded_[number].get(); }
  size_t size() const { return files_.size(); }

 private:
  HardwareDecoder& decoder_;
  std::deque<NumberedFile> files_;
  std::deque<std::future<Decoded>> decoded_;
};

void WaitForQueue() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

TEST(HardwareDecoder, TakesJpegsThatTheEnginesAndTheLetterboxCanRead) {
  EngineControl control;
  const auto decoder = DecoderOn(4, control);
  EXPECT_EQ(decoder->queue_depth(), 8);
  const auto takes = [&](const std::function<void(EncodedImage&)>& change) {
    NumberedFile file(1);
    change(file.encoded);
    return decoder->TryDecode(file.encoded, {}).has_value();
  };
  EXPECT_TRUE(takes([](EncodedImage&) {}));
  EXPECT_FALSE(takes([](EncodedImage& e) { e.format = ImageFormat::kPng; }));
  EXPECT_FALSE(takes([](EncodedImage& e) { e.jpeg.process = 2; }));
  EXPECT_FALSE(takes([](EncodedImage& e) { e.jpeg.precision = 12; }));
  EXPECT_FALSE(takes([](EncodedImage& e) { e.jpeg.rgb_coded = true; }));
  EXPECT_TRUE(takes([](EncodedImage& e) { e.jpeg.exif_orientation = 6; }));
  EXPECT_FALSE(takes([](EncodedImage& e) { e.jpeg.sampling = {0x11, 0x11, 0x11}; }));
  EXPECT_FALSE(takes([](EncodedImage& e) { e.jpeg.components = 1; }));
  EXPECT_FALSE(takes([](EncodedImage& e) { e.jpeg.width = 8; }));
  EXPECT_FALSE(takes([](EncodedImage& e) { e.bytes = e.bytes.first(e.bytes.size() - 1); }));
  const NumberedFile large(1);
  EXPECT_FALSE(decoder->TryDecode(large.encoded, {.max_side = 63}));
  EXPECT_FALSE(decoder->TryDecode(large.encoded, {.max_pixels = 64 * 48 - 1}));
  NumberedFile unsupported(1, NumberedFile::kUnsupported);
  EXPECT_FALSE(decoder->TryDecode(unsupported.encoded, {}));
  EXPECT_EQ(control.batches().size(), 2u);
}

TEST(HardwareDecoder, LeavesThePlanesOnItsGpuAsTheyAreStored) {
  EngineControl control;
  const auto decoder = DecoderOn(1, control);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    NumberedFile file(7, NumberedFile::kNone, 333, 101);
    file.encoded.jpeg.exif_orientation = orientation;
    const Decoded decoded = decoder->TryDecode(file.encoded, {});
    ASSERT_EQ(CodeOf(decoded), StatusCode::kOk);
    const GpuImage& image = **decoded;
    const bool quarter = orientation > 4;
    EXPECT_EQ(image.gpu, 3);
    EXPECT_EQ(image.orientation, orientation);
    EXPECT_EQ(image.width, quarter ? 101 : 333);
    EXPECT_EQ(image.height, quarter ? 333 : 101);
    EXPECT_GE(image.pitches[0], 333);
    EXPECT_GE(image.pitches[1], 167);
    EXPECT_TRUE(Holds(image, 7));
  }
}

TEST(HardwareDecoder, TakesNoMoreImagesThanItsQueueIsDeep) {
  EngineControl control;
  const auto decoder = DecoderOn(2, control);
  Callers callers(*decoder);
  control.Hang();
  for (int i = 0; i < decoder->queue_depth(); ++i) callers.Start();
  WaitForQueue();
  NumberedFile further(99);
  EXPECT_FALSE(decoder->TryDecode(further.encoded, {})) << "at once, although the engines hang";
  control.Release();
  for (size_t i = 0; i < callers.size(); ++i) EXPECT_EQ(CodeOf(callers.Get(i)), StatusCode::kOk);
  EXPECT_TRUE(decoder->TryDecode(further.encoded, {}));
}

TEST(HardwareDecoder, AFreeSlotTakesWhatWaitsUpToOneImagePerEngine) {
  EngineControl control;
  const auto decoder = DecoderOn(4, control);
  Callers callers(*decoder);
  control.Hang();
  for (int i = 0; i < 8; ++i) {
    callers.Start();
    if (i < JpegEngines::kPlaces) control.WaitForBatches(static_cast<size_t>(i) + 1);
  }
  WaitForQueue();
  control.Release();
  for (size_t i = 0; i < callers.size(); ++i) {
    const Decoded decoded = callers.Get(i);
    ASSERT_EQ(CodeOf(decoded), StatusCode::kOk);
    EXPECT_TRUE(Holds(**decoded, static_cast<int>(i)));
  }
  // Both slots are free at once: either may be the first to decode.
  std::vector<size_t> batches = control.batches();
  std::sort(batches.begin(), batches.end());
  EXPECT_EQ(batches, (std::vector<size_t>{1, 1, 2, 4}));
}

TEST(HardwareDecoder, OneUndecodableFileFailsAlone) {
  EngineControl control;
  const auto decoder = DecoderOn(4, control);
  Callers callers(*decoder);
  control.Hang();
  for (int i = 0; i < 6; ++i) {
    callers.Start(i == 4 ? NumberedFile::kUndecodable : NumberedFile::kNone);
    if (i < JpegEngines::kPlaces) control.WaitForBatches(static_cast<size_t>(i) + 1);
  }
  WaitForQueue();
  control.Release();
  for (size_t i = 0; i < callers.size(); ++i) {
    EXPECT_EQ(CodeOf(callers.Get(i)), i == 4 ? StatusCode::kGpuUnavailable : StatusCode::kOk);
  }
  EXPECT_EQ(control.batches(), (std::vector<size_t>{1, 1, 4, 1, 1, 1, 1}));
}

TEST(HardwareDecoder, TakesNothingWhileItsMemoryIsFull) {
  EngineControl control;
  const auto decoder = DecoderOn(1, control, size_t{512} << 10);
  NumberedFile file(1);
  std::vector<Decoded> held;
  for (int i = 0; i < 2; ++i) held.push_back(decoder->TryDecode(file.encoded, {}));
  EXPECT_EQ(CodeOf(held[1]), StatusCode::kOk);
  EXPECT_FALSE(decoder->TryDecode(file.encoded, {}));
  held.pop_back();
  EXPECT_TRUE(decoder->TryDecode(file.encoded, {}));
}

TEST(HardwareDecoder, AFaultLosesWhatIsInWorkAndWaitsAndEverythingAfterwards) {
  EngineControl control;
  const auto decoder = DecoderOn(2, control);
  Callers callers(*decoder);
  control.Hang();
  for (int i = 0; i < 4; ++i) callers.Start();
  WaitForQueue();
  control.FaultAfter(0);
  control.Release();
  for (size_t i = 0; i < callers.size(); ++i) {
    EXPECT_EQ(CodeOf(callers.Get(i)), StatusCode::kGpuLost);
  }
  const size_t batches = control.batches().size();
  NumberedFile late(9);
  EXPECT_EQ(CodeOf(decoder->TryDecode(late.encoded, {})), StatusCode::kGpuLost);
  EXPECT_EQ(control.batches().size(), batches) << "a lost GPU is left alone";
}

TEST(HardwareDecoder, ManyThreadsGetTheirOwnImages) {
  EngineControl control;
  const auto decoder = DecoderOn(3, control, size_t{6} << 20);
  std::atomic<int> decoded = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 300; ++i) {
        const int number = 1 + 300 * thread + i;
        const bool bad = number % 17 == 0;
        NumberedFile file(number, bad ? NumberedFile::kUndecodable : NumberedFile::kNone,
                          64 + number % 1000, 700);
        const Decoded image = decoder->TryDecode(file.encoded, {});
        if (!image) continue;
        ++decoded;
        ASSERT_EQ(image->ok(), !bad);
        ASSERT_TRUE(bad || Holds(**image, number));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(decoded, 300);
}

}  // namespace
}  // namespace lattice::test
