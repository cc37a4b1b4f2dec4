#include "native/gpu_monitor/nvml_library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "test/native/gpu_monitor/stub_nvml.h"

namespace lattice {
namespace {

class NvmlLibraryTest : public testing::Test {
 protected:
  void SetUp() override { ResetStub(stub_); }

  std::unique_ptr<NvmlLibrary> Open(const char* path = STUB_NVML) {
    auto library = NvmlLibrary::Open(path);
    EXPECT_TRUE(library.ok()) << library.status().message();
    return library.ok() ? *std::move(library) : nullptr;
  }

  GpuFigures Read(const NvmlLibrary& library, size_t gpu, Status* status = nullptr) {
    GpuFigures figures;
    const auto device = library.Find(kStubBusIds.at(gpu));
    EXPECT_TRUE(device.ok()) << device.status().message();
    if (!device.ok()) return figures;
    const Status read = library.Read(*device, &figures);
    if (status != nullptr) *status = read;
    EXPECT_TRUE(status != nullptr || read.ok()) << read.message();
    return figures;
  }

  StubNvml* const stub_ = OpenStub(STUB_NVML);
};

int Sentences(const std::string& text) {
  int count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && (i + 1 == text.size() || text[i + 1] == ' ')) ++count;
  }
  return count;
}

TEST_F(NvmlLibraryTest, AMissingLibrarySaysWhereItComesFromAndShowsNoPath) {
  const auto library = NvmlLibrary::Open("/nowhere/libnvidia-ml.so.1");
  EXPECT_EQ(library.status().code(), StatusCode::kGpuUnavailable);
  const std::string words = library.status().message();
  EXPECT_NE(words.find("comes with the driver"), std::string::npos) << words;
  EXPECT_EQ(words.find("/nowhere"), std::string::npos) << words;
}

TEST_F(NvmlLibraryTest, ADriverThatRefusesIsQuoted) {
  stub_->init_code = kStubMismatch;
  const auto library = NvmlLibrary::Open(STUB_NVML);
  EXPECT_EQ(library.status().code(), StatusCode::kGpuUnavailable);
  EXPECT_NE(library.status().message().find("Driver/library version mismatch"), std::string::npos);
  EXPECT_EQ(Sentences(library.status().message()), 1) << library.status().message();
}

TEST_F(NvmlLibraryTest, ALibraryWithoutTheNeededFunctionsIsTooOld) {
  const auto library = NvmlLibrary::Open(STUB_NVML_ANCIENT);
  EXPECT_NE(library.status().message().find("too old"), std::string::npos)
      << library.status().message();
}

TEST_F(NvmlLibraryTest, ItIsToldWhenNobodyNeedsItAnyMore) {
  Open().reset();
  EXPECT_EQ(stub_->inits, 1);
  EXPECT_EQ(stub_->shutdowns, 1);
}

TEST_F(NvmlLibraryTest, GpusAreFoundByTheirBus) {
  const auto library = Open();
  for (const size_t gpu : {size_t{2}, size_t{0}, size_t{1}}) {
    EXPECT_EQ(Read(*library, gpu).temperature, 40 + static_cast<int>(gpu));
  }
  EXPECT_EQ(library->Find("0000:99:00.0").status().code(), StatusCode::kGpuUnavailable);
}

TEST_F(NvmlLibraryTest, FiguresAreInTheUnitsOfTheReading) {
  StubGpu& gpu = stub_->gpus[1];
  gpu.slowdowns = 0x01 | 0x02 | 0x04 | 0x40;  // idle and set clocks are no slowdown
  gpu.mig = 1;
  const GpuFigures figures = Read(*Open(), 1);
  EXPECT_EQ(figures.memory_total, uint64_t{80} << 30);
  EXPECT_EQ(figures.memory_used, uint64_t{1'001} << 20);
  EXPECT_EQ(figures.utilisation, 11);
  EXPECT_EQ(figures.temperature, 41);
  EXPECT_DOUBLE_EQ(figures.power.value_or(0), 101.5);
  EXPECT_DOUBLE_EQ(figures.power_limit.value_or(0), 700);
  EXPECT_EQ(figures.sm_clock, 1'801);
  EXPECT_EQ(figures.uncorrected_errors, 1u);
  EXPECT_EQ(figures.mig, true);
  EXPECT_EQ(figures.slowed_by, (std::vector<std::string>{"power_cap", "hardware_thermal"}));
}

TEST_F(NvmlLibraryTest, AnOldDriverTellsWhatItCan) {
  StubNvml* const old = OpenStub(STUB_NVML_OLD);
  ResetStub(old);
  old->gpus[0].slowdowns = 0x80;
  const GpuFigures figures = Read(*Open(STUB_NVML_OLD), 0);
  EXPECT_EQ(figures.temperature, 40);
  EXPECT_FALSE(figures.power_limit.has_value());
  EXPECT_FALSE(figures.mig.has_value());
  EXPECT_EQ(figures.slowed_by, std::vector<std::string>{"power_brake"});
  old->gpus[0].codes[kStubPower] = kStubUnknown;
  Status status;
  Read(*Open(STUB_NVML_OLD), 0, &status);
  EXPECT_NE(status.message().find("power: NVML error 999"), std::string::npos) << status.message();
}

// Whatever a GPU does not support is absent, and nothing else is.
TEST_F(NvmlLibraryTest, ExactlyWhatIsNotSupportedIsAbsent) {
  const auto library = Open();
  StubGpu& gpu = stub_->gpus[2];
  gpu.slowdowns = 0x20;
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    for (auto& code : gpu.codes) {
      const auto draw = random() % 3;
      code = draw == 0 ? 0 : draw == 1 ? kStubNotSupported : kStubNoPermission;
    }
    const GpuFigures figures = Read(*library, 2);
    const std::array<bool, kStubFigures> present = {figures.memory_used.has_value(),
                                                    figures.utilisation.has_value(),
                                                    figures.temperature.has_value(),
                                                    figures.power.has_value(),
                                                    figures.power_limit.has_value(),
                                                    figures.sm_clock.has_value(),
                                                    figures.uncorrected_errors.has_value(),
                                                    figures.mig.has_value(),
                                                    !figures.slowed_by.empty()};
    for (size_t i = 0; i < present.size(); ++i) EXPECT_EQ(present[i], gpu.codes[i] == 0) << i;
  }
}

TEST_F(NvmlLibraryTest, AFigureThatFailsIsNamedAndTheOthersAreThere) {
  stub_->gpus[0].codes[kStubUtilisation] = kStubUnknown;
  Status status;
  const GpuFigures figures = Read(*Open(), 0, &status);
  EXPECT_EQ(status.code(), StatusCode::kGpuUnavailable);
  EXPECT_EQ(status.message(), "The driver fails at utilisation: Unknown Error.");
  EXPECT_FALSE(figures.utilisation.has_value());
  EXPECT_EQ(figures.temperature, 40);
}

TEST_F(NvmlLibraryTest, AGpuThatIsLostIsAskedNothingMore) {
  StubGpu& gpu = stub_->gpus[0];
  gpu.codes[kStubMemory] = kStubUnknown;
  gpu.codes[kStubTemperature] = kStubGpuIsLost;
  Status status;
  const GpuFigures figures = Read(*Open(), 0, &status);
  EXPECT_EQ(status.code(), StatusCode::kGpuLost);
  EXPECT_EQ(status.message(), "The GPU is lost: GPU is lost.");
  EXPECT_EQ(gpu.asked, kStubTemperature + 1);
  EXPECT_FALSE(figures.power.has_value());
  gpu.find_code = kStubGpuIsLost;
  EXPECT_EQ(Open()->Find(kStubBusIds[0]).status().code(), StatusCode::kGpuLost);
}

}  // namespace
}  // namespace lattice
