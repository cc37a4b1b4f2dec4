#include "bench/native/slot_timer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <utility>

#include "bench/native/gpu_stopwatch.h"
#include "native/base/stopwatch.h"
#include "native/gpu/cuda/cuda_status.h"
#include "native/gpu/cuda/pinned_memory.h"
#include "native/gpu/kernels/letterbox_kernel.h"
#include "native/letterbox/letterbox.h"

namespace lattice {
namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 480;
// Images in whose time the start of a graph on an idle stream, some microseconds, does not count:
// small batches of the bare network are replayed so often in a row.
constexpr int kImagesInARow = 16;

// The median; of an even number of samples, the upper of the two in the middle.
double Median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

Result<BatchTimes> SlotTimer::Time(int batch, int rounds) {
  auto fits =
      std::find_if(slot_.buckets_.begin(), slot_.buckets_.end(),
                   [&](const TensorRtSlot::Bucket& bucket) { return bucket.batch >= batch; });
  if (fits == slot_.buckets_.end()) --fits;
  const TensorRtSlot::Bucket& bucket = *fits;
  const auto count = static_cast<size_t>(bucket.batch);
  auto* images_there = slot_.asked_there_.As<DeviceImage>();
  const size_t asked_bytes = count * (sizeof(DeviceImage) + sizeof(DeviceRequest));

  const std::array<std::function<Status()>, 5> stages = {
      [&] {
        const cudaError_t there = cudaMemcpyAsync(images_there, slot_.asked_.data(), asked_bytes,
                                                  cudaMemcpyHostToDevice, slot_.stream_.get());
        if (there != cudaSuccess) return ToStatus(there, "recording a copy");
        return slot_.QueueResults(bucket.batch);
      },
      [&] {
        return ToStatus(LaunchLetterbox(images_there, bucket.batch, slot_.model_.info.input_width,
                                        slot_.model_.info.input_height, slot_.input_.As<__half>(),
                                        slot_.stream_.get()),
                        "recording the letterbox");
      },
      [&] {
        return bucket.context->enqueueV3(slot_.stream_.get())
                   ? Status()
                   : Status(StatusCode::kDetectionFailed, "The network cannot be recorded.");
      },
      [&] { return slot_.QueueBoxes(bucket.batch); }, [] { return Status(); }};
  std::vector<Graph> graphs;
  for (const auto& stage : stages) {
    auto graph = Graph::Capture(slot_.stream_, stage);
    if (!graph.ok()) return graph.status();
    graphs.push_back(*std::move(graph));
  }
  return TimeStages(bucket, graphs, rounds);
}

Result<BatchTimes> SlotTimer::TimeStages(const TensorRtSlot::Bucket& bucket,
                                         const std::vector<Graph>& graphs, int rounds) {
  const size_t bytes = PackPlanes(PixelLayout::kYuv420, kWidth, kHeight).bytes;
  PinnedMemory pinned;
  const DetectionOptions options;
  const LetterboxTransform transform = ComputeLetterbox(
      kWidth, kHeight, slot_.model_.info.input_width, slot_.model_.info.input_height);
  // A picture each: images of one would be copied once.
  std::deque<DecodedImage> pictures;
  std::vector<SlotImage> images;
  for (int i = 0; i < bucket.batch; ++i) {
    const DecodedImage& picture = pictures.emplace_back(
        DecodedImage{{kWidth, kHeight, ByteBuffer(bytes, 128, &pinned), PixelLayout::kYuv420}});
    images.push_back({&picture, {0, 0, kWidth, kHeight}, transform, &options});
  }
  const auto upload = [&] { return slot_.Upload(images, bucket.batch); };
  const auto alone = [&](size_t stage) { return graphs[stage].Launch(slot_.stream_); };
  const int in_a_row = std::max(1, kImagesInARow / bucket.batch);
  const auto networks = [&] {
    Status launched;
    for (int i = 0; launched.ok() && i < in_a_row; ++i) launched = alone(2);
    return launched;
  };

  GpuStopwatch watch(slot_.stream_);
  Stopwatch host;
  std::vector<double> copy, letterbox, network, boxes, whole, launch, empty;
  const auto round = [&] {
    return InOrder(
        [&] {
          return watch.Time(
              [&] {
                const Status queued = upload();
                host.Lap();
                const Status launched = queued.ok() ? bucket.graph.Launch(slot_.stream_) : queued;
                launch.push_back(host.Lap());
                return launched;
              },
              &whole);
        },
        [&] {
          return watch.Time([&] { return InOrder(upload, [&] { return alone(0); }); }, &copy);
        },
        [&] { return watch.Time([&] { return alone(1); }, &letterbox); },
        [&] { return watch.Time(networks, &network); },
        [&] { return watch.Time([&] { return alone(3); }, &boxes); },
        [&] {
          host.Lap();
          const Status returned =
              InOrder([&] { return alone(4); }, [&] { return slot_.stream_.Synchronize(); });
          empty.push_back(host.Lap());
          return returned;
        });
  };
  Status status = watch.Prepare();
  for (int i = 0; status.ok() && i < GpuStopwatch::kWarmRounds; ++i) status = round();
  for (auto* samples : {&copy, &letterbox, &network, &boxes, &whole, &launch, &empty}) {
    samples->clear();
  }
  for (int i = 0; status.ok() && i < std::max(rounds, 1); ++i) status = round();
  if (!status.ok()) return status;
  return BatchTimes{bucket.batch,   Median(network) / in_a_row,
                    Median(copy),   Median(letterbox),
                    Median(boxes),  Median(whole),
                    Median(launch), Median(empty)};
}

}  // namespace lattice
