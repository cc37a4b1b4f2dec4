#include "native/gpu/nvjpeg/nvjpeg_engines.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/gpu_engine.h"
#include "test/native/gpu/cuda/gpu_test.h"
#include "test/native/gpu/nvjpeg/opened_stub.h"

namespace lattice::test {
namespace {

EncodedImage Picture() {
  static const uint8_t bytes[4] = {0xFF, 0xD8, 0xFF, 0xD9};
  EncodedImage picture;
  picture.bytes = bytes;
  picture.format = ImageFormat::kJpeg;
  picture.jpeg.width = 640;
  picture.jpeg.height = 480;
  return picture;
}

// The library is a stub, CUDA is not.
class NvJpegEnginesTest : public GpuTest {
 protected:
  static Result<std::unique_ptr<NvJpegEngines>> Open(const NvJpegLibrary& library) {
    return NvJpegEngines::Open(library, 0);
  }
};

TEST_F(NvJpegEnginesTest, AsksForItsBackendAndCountsTheEngines) {
  NvJpegStub& stub = Stub();
  const auto library = *OpenStub();
  {
    const auto engines = Open(*library);
    ASSERT_TRUE(engines.ok());
    EXPECT_EQ((*engines)->count(), 7);
    EXPECT_EQ(stub.backend, NVJPEG_BACKEND_HARDWARE);
    EXPECT_GT(stub.open_handles, 0);
  }
  EXPECT_EQ(stub.open_handles, 0);
}

TEST_F(NvJpegEnginesTest, WithoutEnginesTheReasonIsNamed) {
  NvJpegStub& stub = Stub();
  const auto library = *OpenStub();
  stub.engines = 0;
  const auto none = Open(*library);
  EXPECT_EQ(none.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(none.status().message().find("GPU 0"), std::string::npos);
  EXPECT_NE(none.status().message().find("video"), std::string::npos);
  stub.engine_info = NVJPEG_STATUS_ARCH_MISMATCH;
  EXPECT_NE(Open(*library).status().message().find("counting the JPEG engines"), std::string::npos);
  stub.create = NVJPEG_STATUS_ALLOCATOR_FAILURE;
  EXPECT_NE(Open(*library).status().message().find("allocator failure"), std::string::npos);
  EXPECT_EQ(stub.open_handles, 0);
}

TEST_F(NvJpegEnginesTest, SupportsOnlyWhatItsLibraryReadsAsWeDo) {
  const auto supports = [](const std::function<void(NvJpegStub&)>& change) {
    NvJpegStub& stub = Stub();
    const auto library = *OpenStub();
    const auto engines = *Open(*library);
    change(stub);
    return engines->Supports(Picture());
  };
  EXPECT_TRUE(supports([](NvJpegStub&) {}));
  EXPECT_FALSE(supports([](NvJpegStub& s) { s.parse = NVJPEG_STATUS_BAD_JPEG; }));
  // The planes were made for other sides.
  EXPECT_FALSE(supports([](NvJpegStub& s) { s.width = 641; }));
  EXPECT_FALSE(supports([](NvJpegStub& s) { s.height = 4800; }));
  EXPECT_FALSE(supports([](NvJpegStub& s) { s.sampling = NVJPEG_CSS_422; }));
  EXPECT_FALSE(supports([](NvJpegStub& s) { s.unsupported = 1; }));
}

TEST_F(NvJpegEnginesTest, HeadersAreReadAtTheSameTime) {
  NvJpegStub& stub = Stub();
  const auto library = *OpenStub();
  {
    const auto engines = *Open(*library);
    static std::atomic<int> reading;
    static std::atomic<bool> met;
    reading = 0;
    met = true;
    stub.while_parsing = [] {
      ++reading;
      for (int i = 0; i < 500 && reading < 2; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      if (reading < 2) met = false;
    };
    std::thread other([&] { EXPECT_TRUE(engines->Supports(Picture())); });
    EXPECT_TRUE(engines->Supports(Picture()));
    other.join();
    EXPECT_TRUE(met);
    const int open = stub.open_handles;
    EXPECT_TRUE(engines->Supports(Picture()));
    EXPECT_EQ(stub.open_handles, open) << "a reader is used again";
  }
  EXPECT_EQ(stub.open_handles, 0);
}

TEST(OpenJpegEngines, WithoutAGpuItSaysWhy) {
  if (ListGpus().ok()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(OpenJpegEngines(0).status().message(), ListGpus().status().message());
}

}  // namespace
}  // namespace lattice::test
