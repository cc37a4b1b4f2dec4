#include "native/decode_route/nvjpeg/gpu_routes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "native/base/abandoned_gpu.h"
#include "native/cuda/gpu_device.h"
#include "native/cuda/owners.h"
#include "native/decode_route/nvjpeg/nvjpeg_decoder.h"
#include "native/decode_route/nvjpeg/nvjpeg_route.h"
#include "native/image/sample_jpeg.h"

namespace lattice {
namespace {

// While one batch is on the engines, the next is on its way there.
constexpr int kHardwareLanes = 2;
// A single image leaves most of a GPU idle, and more than a few take time from the network.
constexpr int kCudaLanes = 3;

constexpr DecodeCost kHardwareCost = {0.5, 2.0, 0};
constexpr DecodeCost kCudaCost = {0.8, 1.2, 0.001};

constexpr size_t kMostPlanes = size_t{1} << 30;
constexpr size_t kShareOfMemory = 16;
// Pictures of a route that are decoded or wait for the network, which only its own GPU can run: so
// what waits for one GPU leaves the others something to do. A few of its largest slices.
constexpr size_t kMostWaiting = 96;

// Large enough for nvJPEG's kernels to be used for it.
constexpr int kWarmingWidth = 640;
constexpr int kWarmingHeight = 480;

using Lanes = std::vector<std::unique_ptr<NvJpegLane>>;

std::shared_ptr<uint8_t> AllocateOn(int gpu, size_t bytes) {
  if (!UseGpu(gpu).ok()) return nullptr;
  auto buffer = DeviceBuffer::Allocate(bytes);
  if (!buffer.ok()) return nullptr;
  const auto owner = std::make_shared<DeviceBuffer>(*std::move(buffer));
  return {owner, owner->As<uint8_t>()};
}

// Waits as long as for a slice: the first decode also loads kernels and makes memory, for which a
// route's patience with a picture is too short.
Status Decode(std::span<const uint8_t> file, NvJpegLane& lane, PlanePool& pool) {
  const PlaneLayout layout = LayOutPlanes(kWarmingWidth, kWarmingHeight);
  const PlanePool::Block memory = pool.Take(layout.bytes);
  if (!memory) return {StatusCode::kOverloaded, "There is no GPU memory for decoded pictures."};
  const auto staging = lane.Stage(file.size());
  if (!staging.ok()) return staging.status();
  std::memcpy(staging->data(), file.data(), file.size());
  NvJpegPicture picture{*staging, {}, layout.pitches};
  for (size_t i = 0; i < 3; ++i) picture.planes[i] = memory.get() + layout.offsets[i];
  return lane.Decode({&picture, 1});
}

// A picture through each lane. Where that fails, the route would refuse every picture.
Status WarmUp(std::span<const uint8_t> file, NvJpegDecoder& decoder, Lanes& lanes,
              PlanePool& pool) {
  if (!decoder.Supports(DescribeEncoded(file))) {
    return {StatusCode::kGpuUnavailable, "nvJPEG does not take an ordinary picture."};
  }
  Status warmed;
  for (size_t i = 0; warmed.ok() && i < lanes.size(); ++i) warmed = Decode(file, *lanes[i], pool);
  return warmed;
}

Result<std::unique_ptr<DecodeRoute>> OpenRoute(const NvJpegLibrary& library, const GpuDevice& gpu,
                                               NvJpegDecoder::Kind kind,
                                               std::span<const uint8_t> sample) {
  const bool hardware = kind == NvJpegDecoder::Kind::kHardware;
  if (IsGpuAbandoned()) {
    return Status(StatusCode::kGpuLost,
                  "GPU " + std::to_string(gpu.index) + " hangs and decodes nothing.");
  }
  const Status current = UseGpu(gpu.index);
  if (!current.ok()) return current;
  auto decoder = NvJpegDecoder::Open(library, gpu.index, kind);
  if (!decoder.ok()) return decoder.status();
  Lanes lanes;
  for (int i = 0; i < (hardware ? kHardwareLanes : kCudaLanes); ++i) {
    auto lane = (*decoder)->MakeLane();
    if (!lane.ok()) return lane.status();
    lanes.push_back(*std::move(lane));
  }
  NvJpegRouteOptions options;
  options.name = hardware ? kNvJpegHardware : kNvJpegCuda;
  options.resource = options.name + " of GPU " + std::to_string(gpu.index);
  options.gpu = gpu.index;
  options.most_batch = hardware ? (*decoder)->engines() : 1;
  options.cost = hardware ? kHardwareCost : kCudaCost;
  auto pool = PlanePool::Create(
      std::min(kMostPlanes, gpu.memory_bytes / kShareOfMemory),
      [index = gpu.index](size_t bytes) { return AllocateOn(index, bytes); }, kMostWaiting);
  const Status warmed = WarmUp(sample, **decoder, lanes, *pool);
  if (!warmed.ok()) {
    return Status(warmed.code(), "GPU " + std::to_string(gpu.index) + ", " + options.name + ": " +
                                     warmed.message());
  }
  return std::unique_ptr<DecodeRoute>(std::make_unique<NvJpegRoute>(
      std::move(options), *std::move(decoder), std::move(lanes), std::move(pool)));
}

bool IsAllowed(const std::vector<std::string>& allowed, bool hardware) {
  const char* name = hardware ? kNvJpegHardware : kNvJpegCuda;
  return allowed.empty() || std::find(allowed.begin(), allowed.end(), name) != allowed.end();
}

}  // namespace

GpuRoutes OpenGpuRoutes(const std::vector<std::string>& allowed, size_t most) {
  GpuRoutes opened;
  const auto gpus = ListGpus();
  if (!gpus.ok()) return {{}, {gpus.status().message()}};
  const auto library = NvJpegLibrary::Open();
  if (!library.ok()) return {{}, {library.status().message()}};
  const auto sample = MakeSampleJpeg(kWarmingWidth, kWarmingHeight);
  if (!sample.ok()) return {{}, {sample.status().message()}};
  for (const GpuDevice& gpu : *gpus) {
    if (!gpu.unusable.empty()) continue;
    for (const auto kind : {NvJpegDecoder::Kind::kHardware, NvJpegDecoder::Kind::kCuda}) {
      if (!IsAllowed(allowed, kind == NvJpegDecoder::Kind::kHardware)) continue;
      if (opened.routes.size() == most) return opened;
      auto route = OpenRoute(**library, gpu, kind, *sample);
      if (route.ok()) {
        opened.routes.push_back(*std::move(route));
      } else {
        opened.missing.push_back(route.status().message());
      }
    }
    break;  // a process uses one GPU
  }
  return opened;
}

}  // namespace lattice
