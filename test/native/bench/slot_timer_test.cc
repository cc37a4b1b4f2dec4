#include "bench/native/slot_timer.h"

#include "native/gpu/tensorrt/tensorrt_builder.h"
#include "native/gpu/tensorrt/tensorrt_model.h"
#include "test/native/gpu/cuda/gpu_test.h"

namespace lattice {
namespace {

class SlotTimerTest : public GpuTest {};

TEST_F(SlotTimerTest, TimesTheSmallestBatchThatHoldsTheImages) {
  const auto library = TensorRtLibrary::Open();
  ASSERT_TRUE(library.ok()) << library.status().message();
  auto model = *ReadTensorRtModel(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx");
  const auto runtime = *(*library)->CreateRuntime();
  const auto engine =
      OpenTensorRtModel(**library, *runtime, ListGpus()->front(), {}, nullptr, &model);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const TensorRtSlotOptions options{.buckets = model.buckets};
  const auto slot = TensorRtSlot::Create(**engine, model, options);
  ASSERT_TRUE(slot.ok()) << slot.status().message();
  SlotTimer timer(**slot);

  const auto times = timer.Time(3, 2);
  ASSERT_TRUE(times.ok()) << times.status().message();
  EXPECT_EQ(times->batch, 4);
  EXPECT_GT(times->network_ms, 0);
  // Both begin with what the host takes to queue them, which varies.
  EXPECT_GE(times->whole_ms, times->network_ms / 2);
  const auto most = timer.Time(1 << 20, 1);
  ASSERT_TRUE(most.ok()) << most.status().message();
  EXPECT_EQ(most->batch, options.buckets.back());
}

}  // namespace
}  // namespace lattice
