#include "native/decode_route/nvjpeg/nvjpeg_library.h"

#include <gtest/gtest.h>

#include "test/native/decode_route/nvjpeg/opened_stub.h"

namespace lattice::test {
namespace {

TEST(NvJpegLibrary, OpensTheFirstThatIsThere) {
  Stub();
  const auto library = OpenStub();
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_EQ((*library)->version(), "13.4.4");
  EXPECT_NE((*library)->functions().Decode, nullptr);
}

TEST(NvJpegLibrary, NvidiasOwnHasEveryFunction) {
  const auto library = NvJpegLibrary::Open();
  if (!library.ok()) GTEST_SKIP() << library.status().message();
  EXPECT_GE(std::stoi((*library)->version()), 12);
}

TEST(NvJpegLibrary, SaysWhatIsMissingAndWhatToDo) {
  const std::string names[] = {"libno-such-nvjpeg.so.13", "libno-such-nvjpeg.so.12"};
  const auto none = NvJpegLibrary::OpenFirst(names);
  EXPECT_EQ(none.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(none.status().message().find("libno-such-nvjpeg.so.13"), std::string::npos);
  EXPECT_NE(none.status().message().find("Install"), std::string::npos);

  const auto lacking = OpenStub(kLackingStubPath);
  EXPECT_EQ(lacking.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(lacking.status().message().find("nvjpegDecodeBatched:"), std::string::npos);
}

TEST(NvJpegLibrary, RefusesAnOldOneAndOneThatDoesNotSay) {
  Stub().major = 11;
  EXPECT_EQ(OpenStub().status().code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(OpenStub().status().message().find("11.4.4"), std::string::npos);
  Stub().major = 12;
  EXPECT_TRUE(OpenStub().ok());
  Stub().property = NVJPEG_STATUS_INTERNAL_ERROR;
  EXPECT_EQ(OpenStub().status().code(), StatusCode::kGpuUnavailable);
}

TEST(NvJpegLibrary, TellsFaultsOfTheFileFromThoseOfTheMachine) {
  const std::pair<nvjpegStatus_t, StatusCode> cases[] = {
      {NVJPEG_STATUS_SUCCESS, StatusCode::kOk},
      {NVJPEG_STATUS_BAD_JPEG, StatusCode::kInvalidImage},
      {NVJPEG_STATUS_INCOMPLETE_BITSTREAM, StatusCode::kInvalidImage},
      {NVJPEG_STATUS_JPEG_NOT_SUPPORTED, StatusCode::kUnsupportedImageFormat},
      {NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED, StatusCode::kUnsupportedImageFormat},
      {NVJPEG_STATUS_ALLOCATOR_FAILURE, StatusCode::kOverloaded},
      {NVJPEG_STATUS_ARCH_MISMATCH, StatusCode::kGpuUnavailable},
      {NVJPEG_STATUS_EXECUTION_FAILED, StatusCode::kInternalError},
      {NVJPEG_STATUS_NOT_INITIALIZED, StatusCode::kInternalError},
      {NVJPEG_STATUS_INVALID_PARAMETER, StatusCode::kInternalError},
      {static_cast<nvjpegStatus_t>(15), StatusCode::kInternalError}};
  for (const auto& [status, code] : cases) {
    const Status translated = ToStatus(status, "decoding a batch");
    EXPECT_EQ(translated.code(), code) << status;
    if (!translated.ok()) {
      EXPECT_NE(translated.message().find("while decoding a batch"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace lattice::test
