// JPEG engines of a GPU that does not exist: real threads and host memory, no CUDA.
#ifndef LATTICE_TEST_GPU_JPEG_SIMULATED_ENGINES_H_
#define LATTICE_TEST_GPU_JPEG_SIMULATED_ENGINES_H_

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "native/gpu/jpeg/hardware_decoder.h"

namespace lattice::test {

// A file that SimulatedEngines can read: its number, what is wrong with it, the end of a JPEG.
struct NumberedFile {
  enum Fault : uint8_t { kNone, kUnsupported, kUndecodable };

  explicit NumberedFile(int number, Fault fault = kNone, int width = 64, int height = 48)
      : bytes(100 + static_cast<size_t>(number) % 50) {
    std::memcpy(bytes.data(), &number, sizeof(number));
    bytes[4] = fault;
    bytes[bytes.size() - 2] = 0xFF;
    bytes[bytes.size() - 1] = 0xD9;
    encoded.bytes = bytes;
    encoded.format = ImageFormat::kJpeg;
    JpegHeader& jpeg = encoded.jpeg;
    jpeg.width = width;
    jpeg.height = height;
    jpeg.components = 3;
    jpeg.precision = 8;
    jpeg.sampling = {0x22, 0x11, 0x11};
  }
  NumberedFile(const NumberedFile&) = delete;
  NumberedFile& operator=(const NumberedFile&) = delete;

  std::vector<uint8_t> bytes;
  EncodedImage encoded;
};

// Faults that a test sets, and counts that it reads, while the decoder uses the engines.
// Thread-safe.
class EngineControl {
 public:
  void Hang() {
    Change([this] { hangs_ = true; });
  }
  void Release() {
    Change([this] { hangs_ = false; });
  }
  // Every batch fails from now on.
  void Fail() {
    Change([this] { fails_ = true; });
  }
  // The GPU faults after `batches` more.
  void FaultAfter(int batches) {
    Change([&] { left_ = batches; });
  }
  void WaitForBatches(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() >= count; });
  }
  std::vector<size_t> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

  // Called by the engines.
  Status RunBatch(size_t images) {
    std::unique_lock lock(mutex_);
    batches_.push_back(images);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hangs_; });
    if (left_ == 0) return {StatusCode::kGpuLost, "simulated"};
    if (left_ > 0) --left_;
    return fails_ ? Status(StatusCode::kGpuUnavailable, "simulated") : Status();
  }

 private:
  template <typename Function>
  void Change(const Function& function) {
    const std::lock_guard lock(mutex_);
    function();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  bool fails_ = false;
  int left_ = -1;  // batches before the fault; -1: no fault
  std::vector<size_t> batches_;
};

// Writes each file's number at the start of each of its planes.
class SimulatedEngines final : public JpegEngines {
 public:
  SimulatedEngines(int count, EngineControl& control) : count_(count), control_(control) {}

  int gpu() const override { return 3; }
  int count() const override { return count_; }
  bool Supports(const EncodedImage& encoded) override {
    return encoded.bytes[4] != NumberedFile::kUnsupported;
  }
  std::shared_ptr<uint8_t> Allocate(size_t bytes) override {
    return {new uint8_t[bytes], std::default_delete<uint8_t[]>()};
  }
  Status DecodeBatch(int, std::span<const EngineJpeg> images) override {
    const Status ran = control_.RunBatch(images.size());
    if (!ran.ok()) return ran;
    for (const EngineJpeg& image : images) {
      if (image.bytes[4] == NumberedFile::kUndecodable) {
        return {StatusCode::kGpuUnavailable, "simulated"};
      }
    }
    for (const EngineJpeg& image : images) {
      for (uint8_t* plane : image.planes) std::memcpy(plane, image.bytes.data(), sizeof(int));
    }
    return {};
  }

 private:
  const int count_;
  EngineControl& control_;
};

inline constexpr size_t kMuchMemory = size_t{1} << 30;

inline std::unique_ptr<HardwareDecoder> DecoderOn(int engines, EngineControl& control,
                                                  size_t most_bytes = kMuchMemory) {
  return std::make_unique<HardwareDecoder>(std::make_unique<SimulatedEngines>(engines, control),
                                           most_bytes);
}

// Whether all planes hold the number of the file that they were decoded from.
inline bool Holds(const GpuImage& image, int number) {
  for (const uint8_t* plane : image.planes) {
    if (plane == nullptr || std::memcmp(plane, &number, sizeof(number)) != 0) return false;
  }
  return image.memory != nullptr;
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_GPU_JPEG_SIMULATED_ENGINES_H_
