// Reusable network inputs: fresh memory of this size costs more in page faults than the letterbox
// itself.
#ifndef LATTICE_ENGINE_INPUT_BUFFERS_H_
#define LATTICE_ENGINE_INPUT_BUFFERS_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace lattice {

class InputBuffers;

// Floats aligned to 64 bytes; goes back to its pool when destroyed. Movable; empty after a move.
class InputBuffer {
 public:
  InputBuffer() = default;
  InputBuffer(std::shared_ptr<InputBuffers> pool, float* data, size_t size);
  InputBuffer(InputBuffer&& other) noexcept;
  InputBuffer& operator=(InputBuffer&& other) noexcept;
  ~InputBuffer();

  float* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void Release();

  std::shared_ptr<InputBuffers> pool_;
  float* data_ = nullptr;
  size_t size_ = 0;
};

// Thread-safe. Lives until its last buffer is gone.
class InputBuffers : public std::enable_shared_from_this<InputBuffers> {
 public:
  // Keeps at most `max_idle` buffers for later.
  static std::shared_ptr<InputBuffers> Create(size_t max_idle);
  ~InputBuffers();
  InputBuffers(const InputBuffers&) = delete;
  InputBuffers& operator=(const InputBuffers&) = delete;

  // Contents are unspecified.
  InputBuffer Take(size_t floats);

 private:
  friend class InputBuffer;
  struct Idle {
    float* data;
    size_t size;
  };

  explicit InputBuffers(size_t max_idle) : max_idle_(max_idle) {}
  void Return(float* data, size_t size);

  const size_t max_idle_;
  std::mutex mutex_;
  std::vector<Idle> idle_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_INPUT_BUFFERS_H_
