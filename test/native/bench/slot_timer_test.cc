#include "bench/native/slot_timer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "native/gpu/tensorrt/opened_engine.h"
#include "native/gpu/tensorrt/tensorrt_builder.h"
#include "test/native/engine/whole_gpu_engine.h"
#include "test/native/gpu/cuda/gpu_test.h"

namespace lattice {
namespace {

class SlotTimerTest : public GpuTest {};

TEST_F(SlotTimerTest, TimesTheSmallestBatchThatHoldsTheImages) {
  const auto library = TensorRtLibrary::Open();
  ASSERT_TRUE(library.ok()) << library.status().message();
  const GpuEngineOptions options = GpuOptionsOfCheck();
  auto model = *ReadTensorRtModel(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx", options.batches);
  const auto runtime = *(*library)->CreateRuntime();
  std::vector<OpenedEngine> engines;
  TensorRtSlotOptions wanted;
  for (const int batch : model.buckets) {
    auto engine = OpenTensorRtModel(**library, *runtime, ListGpus()->front(), options, nullptr,
                                    batch, &model);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    engines.push_back(*std::move(engine));
    wanted.engines.push_back({batch, engines.back().engine.get()});
  }
  const auto slot = TensorRtSlot::Create(model, wanted);
  ASSERT_TRUE(slot.ok()) << slot.status().message();
  SlotTimer timer(**slot);

  const auto fits = std::find_if(model.buckets.begin(), model.buckets.end(),
                                 [](int batch) { return batch >= 3; });
  const auto times = timer.Time(3, 2);
  ASSERT_TRUE(times.ok()) << times.status().message();
  EXPECT_EQ(times->batch, fits == model.buckets.end() ? model.buckets.back() : *fits);
  EXPECT_GT(times->network_ms, 0);
  // Both begin with what the host takes to queue them, which varies.
  EXPECT_GE(times->whole_ms, times->network_ms / 2);
  const auto most = timer.Time(1 << 20, 1);
  ASSERT_TRUE(most.ok()) << most.status().message();
  EXPECT_EQ(most->batch, model.buckets.back());
}

}  // namespace
}  // namespace lattice
