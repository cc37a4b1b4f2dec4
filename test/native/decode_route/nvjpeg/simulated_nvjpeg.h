// nvJPEG on a GPU that does not exist: real threads and real memory, no CUDA.
#ifndef LATTICE_TEST_DECODE_ROUTE_NVJPEG_SIMULATED_NVJPEG_H_
#define LATTICE_TEST_DECODE_ROUTE_NVJPEG_SIMULATED_NVJPEG_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "native/decode_route/nvjpeg/nvjpeg_route.h"
#include "test/native/decode_route/nvjpeg/nvjpeg_file.h"

namespace lattice::test {

// Writes each file's number at the start of each of its planes. Shared by the test, the route and
// threads that outlive both.
class SimulatedNvJpeg final : public NvJpegDevice,
                              public std::enable_shared_from_this<SimulatedNvJpeg> {
 public:
  explicit SimulatedNvJpeg(std::chrono::microseconds batch_time = {}) : batch_time_(batch_time) {}

  bool Supports(const EncodedImage& encoded) override {
    return encoded.bytes[4] != NvJpegFile::kUnsupported;
  }

  std::vector<std::unique_ptr<NvJpegLane>> MakeLanes(int count) {
    std::vector<std::unique_ptr<NvJpegLane>> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(std::make_unique<Lane>(shared_from_this()));
    return lanes;
  }

  // From now on batches hang until Release.
  void Hang() {
    Change([this] { hangs_ = true; });
  }
  void Release() {
    Change([this] { hangs_ = false; });
  }
  // The GPU faults after `batches` more.
  void FaultAfter(int batches) {
    Change([&] { left_ = batches; });
  }

  // Until `count` batches have begun.
  void WaitForBatches(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() >= count; });
  }
  std::vector<size_t> batches() const {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

 private:
  class Lane final : public NvJpegLane {
   public:
    explicit Lane(std::shared_ptr<SimulatedNvJpeg> device) : device_(std::move(device)) {}

    Result<std::span<uint8_t>> Stage(size_t bytes) override {
      staging_.resize(bytes);
      return std::span(staging_);
    }
    Status Decode(std::span<const NvJpegPicture> pictures) override {
      return device_->Decode(pictures);
    }

   private:
    const std::shared_ptr<SimulatedNvJpeg> device_;
    std::vector<uint8_t> staging_;
  };

  template <typename Function>
  void Change(const Function& function) {
    const std::lock_guard lock(mutex_);
    function();
    changed_.notify_all();
  }

  Status Decode(std::span<const NvJpegPicture> pictures) {
    {
      std::unique_lock lock(mutex_);
      batches_.push_back(pictures.size());
      changed_.notify_all();
      changed_.wait(lock, [this] { return !hangs_; });
      if (left_ >= 0 && --left_ < 0) {
        left_ = 0;
        return {StatusCode::kGpuLost, "simulated"};
      }
    }
    std::this_thread::sleep_for(batch_time_);
    bool all = true;
    for (const NvJpegPicture& picture : pictures) {
      all = all && picture.bytes[4] != NvJpegFile::kUndecodable;
    }
    if (!all) return {StatusCode::kInvalidImage, "simulated"};
    for (const NvJpegPicture& picture : pictures) {
      for (uint8_t* plane : picture.planes) std::memcpy(plane, picture.bytes.data(), sizeof(int));
    }
    return {};
  }

  const std::chrono::microseconds batch_time_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  int left_ = -1;
  std::vector<size_t> batches_;
};

// GPU memory that the host can read; null from the `most`-th block in use on.
inline PlanePool::Allocate HostPlanes(int most = 1 << 30) {
  const auto used = std::make_shared<std::atomic<int>>(0);
  return [used, most](size_t bytes) -> PlanePool::Block {
    if (++*used > most) {
      --*used;
      return nullptr;
    }
    return {new uint8_t[bytes], [used](uint8_t* memory) {
              --*used;
              delete[] memory;
            }};
  };
}

// Whether all planes hold the number of the file that they were decoded from.
inline bool Holds(const GpuImage& image, int number) {
  for (const uint8_t* plane : image.planes) {
    if (plane == nullptr || NvJpegFile::NumberIn(plane) != number) return false;
  }
  return image.memory != nullptr;
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_DECODE_ROUTE_NVJPEG_SIMULATED_NVJPEG_H_
