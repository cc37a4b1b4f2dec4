#include "native/gpu/cuda/cuda_status.h"

#include <gtest/gtest.h>

#include <string>

namespace lattice {
namespace {

constexpr CudaDriver kNone;
constexpr CudaDriver kOld{true, 12040};

std::string SentenceFor(cudaError_t error, const CudaDriver& driver) {
  return ToStatus(error, "testing", driver).message();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ToStatus, SuccessIsOk) {
  EXPECT_TRUE(ToStatus(cudaSuccess, "testing").ok());
  EXPECT_TRUE(ToStatus(cudaSuccess, "testing", kNone).ok());
}

TEST(ToStatus, TellsNoDriverFromAnOldOne) {
  EXPECT_EQ(ClassifyCudaError(cudaErrorInsufficientDriver, kNone), CudaFault::kNoDriver);
  EXPECT_EQ(ClassifyCudaError(cudaErrorInsufficientDriver, kOld), CudaFault::kDriverTooOld);
  EXPECT_EQ(ClassifyCudaError(cudaErrorStubLibrary, kOld), CudaFault::kNoDriver);
  EXPECT_TRUE(Contains(SentenceFor(cudaErrorInsufficientDriver, kNone), "Install the driver"));
  const std::string old = SentenceFor(cudaErrorInsufficientDriver, kOld);
  EXPECT_TRUE(Contains(old, "12.4")) << old;
  EXPECT_TRUE(Contains(old, "newer driver")) << old;
}

TEST(ToStatus, SaysWhatToDo) {
  const struct {
    cudaError_t error;
    CudaFault fault;
    const char* advice;
  } cases[] = {{cudaErrorNoDevice, CudaFault::kNoDevice, "CUDA_VISIBLE_DEVICES"},
               {cudaErrorSystemNotReady, CudaFault::kNotReady, "fabricmanager"},
               {cudaErrorNoKernelImageForDevice, CudaFault::kUnsupportedGpu, "Build it again"},
               {cudaErrorMemoryAllocation, CudaFault::kOutOfMemory, "load fewer models"},
               {cudaErrorIllegalAddress, CudaFault::kSticky, "Restart the service"},
               {cudaErrorInvalidValue, CudaFault::kOther, "cudaErrorInvalidValue"}};
  for (const auto& c : cases) {
    EXPECT_EQ(ClassifyCudaError(c.error, kOld), c.fault) << c.advice;
    const std::string sentence = SentenceFor(c.error, kOld);
    EXPECT_TRUE(Contains(sentence, c.advice)) << sentence;
    EXPECT_TRUE(Contains(sentence, cudaGetErrorName(c.error))) << sentence;
    EXPECT_TRUE(Contains(sentence, "while testing")) << sentence;
  }
}

TEST(IsSticky, OnlyFaultsThatOutliveTheCall) {
  for (const cudaError_t error :
       {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorECCUncorrectable,
        cudaErrorMisalignedAddress, cudaErrorAssert, cudaErrorLaunchTimeout, cudaErrorUnknown}) {
    EXPECT_TRUE(IsSticky(error)) << cudaGetErrorName(error);
  }
  for (const cudaError_t error :
       {cudaSuccess, cudaErrorMemoryAllocation, cudaErrorInvalidValue, cudaErrorNotReady,
        cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorStreamCaptureInvalidated}) {
    EXPECT_FALSE(IsSticky(error)) << cudaGetErrorName(error);
  }
}

TEST(FindCudaDriver, AgreesWithTheRuntime) {
  int version = -1;
  ASSERT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  const CudaDriver driver = FindCudaDriver();
  EXPECT_EQ(driver.version, version);
  if (!driver.present) {
    EXPECT_EQ(version, 0);
  }
}

}  // namespace
}  // namespace lattice
