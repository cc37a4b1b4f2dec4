#include "test/native/simulated_cuda/kernel_bodies.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "native/gpu/kernels/detection_blocks.h"
#include "native/gpu/kernels/letterbox_block.h"
#include "test/native/gpu/kernels/host_block.h"

namespace lattice::simulated {
namespace {

template <typename T>
T Argument(void** arguments, int index) {
  return *static_cast<T*>(arguments[index]);
}

uint32_t NextSeed() {
  static std::atomic<uint32_t> seed{1};
  return seed++;
}

// Calls run(block, x, y, z) for all blocks of the grid, in any order.
template <typename Run>
void ForBlocks(const Grid& grid, const Run& run) {
  std::vector<unsigned> order(grid.blocks.x * grid.blocks.y * grid.blocks.z);
  std::iota(order.begin(), order.end(), 0u);
  std::minstd_rand random(NextSeed());
  std::shuffle(order.begin(), order.end(), random);
  for (const unsigned number : order) {
    const HostBlock block(static_cast<int>(grid.threads.x), random());
    const unsigned row = number / grid.blocks.x;
    run(block, number % grid.blocks.x, row % grid.blocks.y, row / grid.blocks.y);
  }
}

template <typename Shared>
std::unique_ptr<Shared> RubbishOf() {
  auto shared = std::make_unique<Shared>();
  FillWithRubbish(shared.get());
  return shared;
}

// Whether the pixels of a picture lie where the GPU may read them.
bool Readable(const DeviceImage& image, int gpu) {
  if (image.planes[0] == nullptr) return true;
  const bool turned = image.orientation >= 5;
  const int width = turned ? image.transform.source_height : image.transform.source_width;
  const int height = turned ? image.transform.source_width : image.transform.source_height;
  const bool rgb = image.layout == PixelLayout::kRgb;
  for (int i = 0; i < (rgb ? 1 : 3); ++i) {
    const int row = rgb ? 3 * width : i == 0 ? width : ChromaSize(width);
    const int rows = i == 0 ? height : ChromaSize(height);
    const size_t bytes = static_cast<size_t>(image.pitches[i]) * static_cast<size_t>(rows - 1) +
                         static_cast<size_t>(row);
    if (!IsOnGpu(image.planes[i], bytes, gpu)) return false;
  }
  return true;
}

Work Letterbox(const Grid& grid, void** arguments) {
  if (grid.threads.x != kTileThreads) return nullptr;
  const auto* images = Argument<const DeviceImage*>(arguments, 0);
  const auto width = Argument<int>(arguments, 1);
  const auto height = Argument<int>(arguments, 2);
  auto* out = Argument<__half*>(arguments, 3);
  return [=] {
    const size_t count = grid.blocks.z;
    const size_t halves = count * 3 * static_cast<size_t>(width) * static_cast<size_t>(height);
    if (!IsOnGpu(images, count * sizeof *images, grid.gpu) ||
        !IsOnGpu(out, halves * sizeof *out, grid.gpu) ||
        !std::all_of(images, images + count,
                     [&](const DeviceImage& image) { return Readable(image, grid.gpu); })) {
      return cudaErrorIllegalAddress;
    }
    const auto shared = RubbishOf<LetterboxShared>();
    ForBlocks(grid, [&](const HostBlock& block, unsigned x, unsigned y, unsigned z) {
      LetterboxBlock(block, x, y, z, images, width, height, shared.get(), out);
    });
    return cudaSuccess;
  };
}

// Whether the workspace lies on the GPU, for this many images.
bool Fits(const DetectionWorkspace& workspace, size_t images, int anchors, int gpu) {
  const size_t keys = images * static_cast<size_t>(anchors) * sizeof(CandidateKey);
  return IsOnGpu(workspace.keys, keys, gpu) && IsOnGpu(workspace.sorted, keys, gpu) &&
         IsOnGpu(workspace.counts, images * sizeof(int), gpu);
}

struct Detecting {
  DeviceHead head;
  const DeviceRequest* requests;
  DetectionWorkspace workspace;

  explicit Detecting(void** arguments)
      : head(Argument<DeviceHead>(arguments, 0)),
        requests(Argument<const DeviceRequest*>(arguments, 1)),
        workspace(Argument<DetectionWorkspace>(arguments, 2)) {}

  bool IsThere(size_t images, int gpu) const {
    for (const ScaleView<Half>& scale : head.scales) {
      const size_t halves = images * static_cast<size_t>(scale.cells) * sizeof(Half);
      if (!IsOnGpu(scale.boxes, halves * static_cast<size_t>(4 * head.bins), gpu) ||
          !IsOnGpu(scale.classes, halves * static_cast<size_t>(head.classes), gpu)) {
        return false;
      }
    }
    return IsOnGpu(requests, images * sizeof *requests, gpu) &&
           Fits(workspace, images, head.anchors(), gpu);
  }
};

Work Filter(const Grid& grid, void** arguments) {
  if (grid.threads.x != kFilterThreads) return nullptr;
  const Detecting d(arguments);
  return [=] {
    if (!d.IsThere(grid.blocks.y, grid.gpu)) return cudaErrorIllegalAddress;
    const auto shared = RubbishOf<FilterShared>();
    ForBlocks(grid, [&](const HostBlock& block, unsigned x, unsigned y, unsigned) {
      FilterBlock(block, x, y, d.head, d.requests, d.workspace, shared.get());
    });
    return cudaSuccess;
  };
}

Work Rank(const Grid& grid, void** arguments) {
  if (grid.threads.x != kRankThreads) return nullptr;
  const auto anchors = Argument<int>(arguments, 0);
  const auto workspace = Argument<DetectionWorkspace>(arguments, 1);
  return [=] {
    if (!Fits(workspace, grid.blocks.y, anchors, grid.gpu)) return cudaErrorIllegalAddress;
    const auto shared = RubbishOf<RankShared>();
    ForBlocks(grid, [&](const HostBlock& block, unsigned x, unsigned y, unsigned) {
      RankBlock(block, x, y, anchors, workspace, shared.get());
    });
    return cudaSuccess;
  };
}

Work Detect(const Grid& grid, void** arguments) {
  if (grid.threads.x != kSuppressThreads) return nullptr;
  const Detecting d(arguments);
  auto* results = Argument<DeviceDetections*>(arguments, 3);
  return [=] {
    if (!d.IsThere(grid.blocks.x, grid.gpu) ||
        !IsOnGpu(results, grid.blocks.x * sizeof *results, grid.gpu)) {
      return cudaErrorIllegalAddress;
    }
    const auto shared = RubbishOf<SuppressShared>();
    ForBlocks(grid, [&](const HostBlock& block, unsigned x, unsigned, unsigned) {
      DetectBlock(block, x, d.head, d.requests, d.workspace, shared.get(), results);
    });
    return cudaSuccess;
  };
}

}  // namespace

Work BodyOf(const std::string& name, const Grid& grid, void** arguments) {
  // The name is the compiler's: namespaces and types are written around the kernel's own.
  const auto is = [&](const char* kernel) { return name.find(kernel) != std::string::npos; };
  if (is("LetterboxKernel")) return Letterbox(grid, arguments);
  if (is("FilterKernel")) return Filter(grid, arguments);
  if (is("RankKernel")) return Rank(grid, arguments);
  if (is("DetectKernel")) return Detect(grid, arguments);
  return nullptr;
}

}  // namespace lattice::simulated
