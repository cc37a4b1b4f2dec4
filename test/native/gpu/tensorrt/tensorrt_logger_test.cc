// Needs no GPU.
#ifdef LATTICE_WITH_CUDA

#include "native/gpu/tensorrt/tensorrt_logger.h"

#include <gtest/gtest.h>

#include <barrier>
#include <string>
#include <thread>

namespace lattice {
namespace {

using Severity = nvinfer1::ILogger::Severity;

TensorRtLogger& Logger() { return TensorRtLogger::Get(); }

TEST(TensorRtLoggerTest, TheFirstErrorExplainsAFailureOnce) {
  (void)Logger().TakeError();
  Logger().log(Severity::kWARNING, "slow");
  Logger().log(Severity::kERROR, "the cause");
  Logger().log(Severity::kINTERNAL_ERROR, "the consequence");
  const Status failed = Logger().Failure(StatusCode::kInvalidModel, "It failed");
  EXPECT_EQ(failed.message(), "It failed: the cause");
  EXPECT_EQ(failed.code(), StatusCode::kInvalidModel);
  EXPECT_EQ(Logger().Failure(StatusCode::kInvalidModel, "Again").message(), "Again.");
}

TEST(TensorRtLoggerTest, ALoadIsNotExplainedByTheErrorOfAnother) {
  std::barrier together(2);
  const auto load = [&](const char* word) {
    (void)Logger().TakeError();
    together.arrive_and_wait();
    if (*word != '\0') Logger().log(Severity::kERROR, word);
    together.arrive_and_wait();
    EXPECT_EQ(Logger().TakeError(), word);
  };
  for (const char* other : {"out of memory", ""}) {
    std::thread beside([&] { load("no importer"); });
    load(other);
    beside.join();
  }
}

TEST(TensorRtLoggerTest, AnErrorOnAThreadOfTensorRtIsHeardByTheLoad) {
  (void)Logger().TakeError();
  std::thread([] { Logger().log(Severity::kERROR, "a tactic failed"); }).join();
  EXPECT_EQ(Logger().TakeError(), "a tactic failed");
}

TEST(TensorRtLoggerTest, MemoryThatIsShortHasItsOwnCode) {
  const auto code = [](const char* error) {
    return TensorRtLogger::CodeOf(error, StatusCode::kInvalidModel);
  };
  EXPECT_EQ(code("Cuda Runtime (out of memory)"), StatusCode::kOverloaded);
  EXPECT_EQ(code("Error Code 2: OutOfMemory"), StatusCode::kOverloaded);
  EXPECT_EQ(code("No importer"), StatusCode::kInvalidModel);
}

}  // namespace
}  // namespace lattice
#endif  // LATTICE_WITH_CUDA
