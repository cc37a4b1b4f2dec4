#include "native/engine/input_buffers.h"

#include <new>
#include <utility>

namespace lattice {
namespace {

constexpr std::align_val_t kAlignment{64};

float* Allocate(size_t floats) {
  return static_cast<float*>(::operator new(floats * sizeof(float), kAlignment));
}

void Free(float* data) { ::operator delete(data, kAlignment); }

}  // namespace

InputBuffer::InputBuffer(std::shared_ptr<InputBuffers> pool, float* data, size_t size)
    : pool_(std::move(pool)), data_(data), size_(size) {}

InputBuffer::InputBuffer(InputBuffer&& other) noexcept
    : pool_(std::move(other.pool_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

InputBuffer& InputBuffer::operator=(InputBuffer&& other) noexcept {
  if (this != &other) {
    Release();
    pool_ = std::move(other.pool_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

InputBuffer::~InputBuffer() { Release(); }

void InputBuffer::Release() {
  if (data_ != nullptr) pool_->Return(data_, size_);
  data_ = nullptr;
  pool_.reset();
}

std::shared_ptr<InputBuffers> InputBuffers::Create(size_t max_idle) {
  return std::shared_ptr<InputBuffers>(new InputBuffers(max_idle));
}

InputBuffers::~InputBuffers() {
  for (const Idle& idle : idle_) Free(idle.data);
}

InputBuffer InputBuffers::Take(size_t floats) {
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = idle_.size(); i-- > 0;) {
      if (idle_[i].size != floats) continue;
      float* const data = idle_[i].data;
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      return {shared_from_this(), data, floats};
    }
  }
  return {shared_from_this(), Allocate(floats), floats};
}

void InputBuffers::Return(float* data, size_t size) {
  float* dropped = data;
  {
    const std::lock_guard lock(mutex_);
    if (max_idle_ > 0) {
      idle_.push_back({data, size});
      dropped = nullptr;
      // The oldest goes: after a model change it is the one of a size that nobody asks for any
      // more.
      if (idle_.size() > max_idle_) {
        dropped = idle_.front().data;
        idle_.erase(idle_.begin());
      }
    }
  }
  if (dropped != nullptr) Free(dropped);
}

}  // namespace lattice
