#include "native/cpu/cpu_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "native/base/stopwatch.h"
#include "native/cpu/openvino_network.h"

namespace lattice {
namespace {

const std::string kBundled = LATTICE_SOURCE_DIR "/models/vehicles-v8n.onnx";
const std::string kEightBit = LATTICE_SOURCE_DIR "/models/vehicles-v8n.int8.onnx";

std::unique_ptr<OpenVinoNetwork> Load(const std::string& precision,
                                      const std::string& path = kBundled) {
  auto loaded = OpenVinoNetwork::Load(path, {precision, 2, {1, 1}, {1, 0}});
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

double RunMs(OpenVinoNetwork& network) {
  const std::vector<float> image(size_t{3} * 640 * 640, 0.5f);
  NetworkItem item{image.data(), {640, 640}};
  Stopwatch watch;
  EXPECT_TRUE(network.Run(WorkClass::kSync, 0, Width::kWide, {&item, 1}).ok());
  return watch.Lap();
}

TEST(CpuPrecisionTest, TakesWhatIsAskedForOrSaysThatItCannot) {
  EXPECT_FALSE(*UsesBf16("f32"));
  const auto bf16 = UsesBf16("bf16");
  if (bf16.ok()) {
    EXPECT_TRUE(*bf16);
  } else {
    EXPECT_EQ(bf16.status().code(), StatusCode::kInvalidModel);
    EXPECT_FALSE(*UsesBf16("auto"));
  }
}

TEST(CpuPrecisionTest, ChoosesOnceAProcess) {
  const bool first = *UsesBf16("auto");
  Stopwatch watch;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(*UsesBf16("auto"), first);
  EXPECT_LT(watch.Lap(), 10.0);
}

TEST(CpuPrecisionTest, WhatItChoosesIsNotTheSlowerForADetector) {
  if (!UsesBf16("bf16").ok()) GTEST_SKIP() << "left out: this CPU has no bfloat16";
  const bool chosen = *UsesBf16("auto");
  const auto f32 = Load("f32");
  const auto bf16 = Load("bf16");
  ASSERT_TRUE(f32 != nullptr && bf16 != nullptr);
  double f32_ms = std::numeric_limits<double>::max();
  double bf16_ms = f32_ms;
  for (int round = 0; round < 8; ++round) {
    f32_ms = std::min(f32_ms, RunMs(*f32));
    bf16_ms = std::min(bf16_ms, RunMs(*bf16));
  }
  EXPECT_LT(chosen ? bf16_ms : f32_ms, 1.3 * (chosen ? f32_ms : bf16_ms))
      << "f32 " << f32_ms << " ms, bf16 " << bf16_ms << " ms";
  RecordProperty("f32_us", static_cast<int>(f32_ms * 1000));
  RecordProperty("bf16_us", static_cast<int>(bf16_ms * 1000));
}

TEST(CpuPrecisionTest, TheNetworkSaysWhichItGot) {
  const auto network = Load("auto");
  ASSERT_NE(network, nullptr);
  EXPECT_EQ(network->info().precision, *UsesBf16("auto") ? "bf16" : "f32");
  const auto rounded = Load("auto", kEightBit);
  ASSERT_NE(rounded, nullptr);
  EXPECT_EQ(rounded->info().precision, "int8");
}

TEST(CpuPrecisionTest, EightBitsAreMeasuredOnceAProcess) {
  const bool first = EightBitPays();
  Stopwatch watch;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(EightBitPays(), first);
  EXPECT_LT(watch.Lap(), 10.0);
}

TEST(CpuPrecisionTest, EightBitsThatPayAreTheFasterForADetector) {
  if (!EightBitPays()) GTEST_SKIP() << "left out: 8 bits are no faster on this CPU";
  const auto floats = Load("auto");
  const auto rounded = Load("auto", kEightBit);
  ASSERT_TRUE(floats != nullptr && rounded != nullptr);
  double floats_ms = std::numeric_limits<double>::max();
  double rounded_ms = floats_ms;
  for (int round = 0; round < 8; ++round) {
    floats_ms = std::min(floats_ms, RunMs(*floats));
    rounded_ms = std::min(rounded_ms, RunMs(*rounded));
  }
  EXPECT_LT(rounded_ms, floats_ms);
  RecordProperty("floats_us", static_cast<int>(floats_ms * 1000));
  RecordProperty("rounded_us", static_cast<int>(rounded_ms * 1000));
}

}  // namespace
}  // namespace lattice
