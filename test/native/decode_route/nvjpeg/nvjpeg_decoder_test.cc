#include "native/decode_route/nvjpeg/nvjpeg_decoder.h"

#include <gtest/gtest.h>

#include <functional>

#include "native/cuda/gpu_device.h"
#include "native/decode_route/nvjpeg/gpu_routes.h"
#include "test/native/decode_route/nvjpeg/opened_stub.h"

namespace lattice::test {
namespace {

using Kind = NvJpegDecoder::Kind;

EncodedImage Picture() {
  static const uint8_t bytes[4] = {0xFF, 0xD8, 0xFF, 0xD9};
  EncodedImage picture;
  picture.bytes = bytes;
  picture.format = ImageFormat::kJpeg;
  picture.jpeg.width = 640;
  picture.jpeg.height = 480;
  return picture;
}

TEST(NvJpegDecoder, AsksForItsBackendAndCountsTheEngines) {
  NvJpegStub& stub = Stub();
  const auto library = *OpenStub();
  {
    const auto hardware = NvJpegDecoder::Open(*library, 0, Kind::kHardware);
    ASSERT_TRUE(hardware.ok());
    EXPECT_EQ((*hardware)->engines(), 7);
    EXPECT_EQ(stub.backend, NVJPEG_BACKEND_HARDWARE);
    const auto cuda = NvJpegDecoder::Open(*library, 0, Kind::kCuda);
    ASSERT_TRUE(cuda.ok());
    EXPECT_EQ((*cuda)->engines(), 0);
    EXPECT_EQ(stub.backend, NVJPEG_BACKEND_GPU_HYBRID);
    EXPECT_GT(stub.open_handles, 0);
  }
  EXPECT_EQ(stub.open_handles, 0);
}

TEST(NvJpegDecoder, WithoutEnginesThereIsNoHardwareDecoder) {
  NvJpegStub& stub = Stub();
  const auto library = *OpenStub();
  stub.engines = 0;
  const auto none = NvJpegDecoder::Open(*library, 2, Kind::kHardware);
  EXPECT_EQ(none.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(none.status().message().find("GPU 2"), std::string::npos);
  EXPECT_NE(none.status().message().find("video"), std::string::npos);
  EXPECT_TRUE(NvJpegDecoder::Open(*library, 2, Kind::kCuda).ok());
  stub.engine_info = NVJPEG_STATUS_ARCH_MISMATCH;
  EXPECT_EQ(NvJpegDecoder::Open(*library, 0, Kind::kHardware).status().code(),
            StatusCode::kGpuUnavailable);
  stub.create = NVJPEG_STATUS_ALLOCATOR_FAILURE;
  EXPECT_EQ(NvJpegDecoder::Open(*library, 0, Kind::kCuda).status().code(), StatusCode::kOverloaded);
  EXPECT_EQ(stub.open_handles, 0);
}

TEST(NvJpegDecoder, SupportsOnlyWhatItsLibraryReadsAsWeDo) {
  const auto supports = [](Kind kind, const std::function<void(NvJpegStub&)>& change) {
    NvJpegStub& stub = Stub();
    const auto library = *OpenStub();
    const auto decoder = *NvJpegDecoder::Open(*library, 0, kind);
    change(stub);
    return decoder->Supports(Picture());
  };
  for (const Kind kind : {Kind::kHardware, Kind::kCuda}) {
    EXPECT_TRUE(supports(kind, [](NvJpegStub&) {}));
    EXPECT_FALSE(supports(kind, [](NvJpegStub& s) { s.parse = NVJPEG_STATUS_BAD_JPEG; }));
    // Planes were made for other sides.
    EXPECT_FALSE(supports(kind, [](NvJpegStub& s) { s.width = 641; }));
    EXPECT_FALSE(supports(kind, [](NvJpegStub& s) { s.height = 4800; }));
    EXPECT_FALSE(supports(kind, [](NvJpegStub& s) { s.sampling = NVJPEG_CSS_422; }));
    EXPECT_FALSE(supports(
        kind, [](NvJpegStub& s) { s.encoding = NVJPEG_ENCODING_PROGRESSIVE_DCT_HUFFMAN; }));
  }
  const auto refuses = [](NvJpegStub& s) { s.refused = 1; };
  EXPECT_FALSE(supports(Kind::kHardware, refuses));
  EXPECT_TRUE(supports(Kind::kCuda, refuses)) << "the question is for the engines";
}

TEST(GpuRoutes, WithoutAGpuThereAreNoneAndTheySayWhy) {
  if (ListGpus().ok()) GTEST_SKIP() << "this machine has a GPU";
  const GpuRoutes opened = OpenGpuRoutes({}, 30);
  EXPECT_TRUE(opened.routes.empty());
  ASSERT_EQ(opened.missing.size(), 1u);
  EXPECT_EQ(opened.missing[0], ListGpus().status().message());
}

}  // namespace
}  // namespace lattice::test
