#include "native/gpu/nvjpeg/nvjpeg_library.h"

#include <gtest/gtest.h>

#include "test/native/gpu/nvjpeg/opened_stub.h"

namespace lattice::test {
namespace {

TEST(NvJpegLibrary, OpensTheFirstThatIsThere) {
  Stub();
  const auto library = OpenStub();
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_NE((*library)->functions().DecodeBatched, nullptr);
}

TEST(NvJpegLibrary, NvidiasOwnHasEveryFunction) {
  const auto library = NvJpegLibrary::Open();
  if (!library.ok()) GTEST_SKIP() << library.status().message();
  EXPECT_NE((*library)->functions().DecodeBatched, nullptr);
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

TEST(NvJpegLibrary, AFailureNamesTheStatusAndWhatWasDone) {
  EXPECT_TRUE(ToStatus(NVJPEG_STATUS_SUCCESS, "decoding a batch").ok());
  const Status bad = ToStatus(NVJPEG_STATUS_BAD_JPEG, "decoding a batch");
  EXPECT_EQ(bad.message(), "nvJPEG: bad JPEG (3, while decoding a batch).");
}

}  // namespace
}  // namespace lattice::test
