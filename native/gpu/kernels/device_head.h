// The head of a batch in the GPU's memory, as the detection kernels read it: the six convolution
// outputs of a network that was cut (HeadLayout::kScales), in FP16.
#ifndef LATTICE_GPU_KERNELS_DEVICE_HEAD_H_
#define LATTICE_GPU_KERNELS_DEVICE_HEAD_H_

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "native/base/host_device.h"
#include "native/boxes/scale_view.h"
#include "native/model/half_float.h"
#include "native/model/head.h"

namespace lattice {

// An FP16 number; becomes a float exactly.
struct Half {
  uint16_t bits;

  LATTICE_HOST_DEVICE explicit operator float() const {
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(bits));
#else
    return FromHalfBits(bits);
#endif
  }
};

// A cell of one of the grids.
struct HeadCell {
  ScaleView<Half> scale;
  int stride;
  int cell;
};

// The head of the first image of a batch; `Of` gives those of the others.
struct DeviceHead {
  static constexpr int kScales = static_cast<int>(kHeadScales);

  int classes = 0;
  int bins = 0;
  uint32_t one_to_one = 0;  // not 0: as Head::one_to_one
  int strides[kScales] = {};
  ScaleView<Half> scales[kScales] = {};

  LATTICE_HOST_DEVICE int anchors() const {
    return scales[0].cells + scales[1].cells + scales[2].cells;
  }

  LATTICE_HOST_DEVICE DeviceHead Of(unsigned image) const {
    DeviceHead head = *this;
    LATTICE_UNROLL
    for (int i = 0; i < kScales; ++i) {
      const ptrdiff_t before = static_cast<ptrdiff_t>(image) * scales[i].cells;
      head.scales[i].boxes += before * 4 * bins;
      head.scales[i].classes += before * classes;
    }
    return head;
  }

  // Anchors are counted over the grids in order.
  LATTICE_HOST_DEVICE HeadCell CellOf(int anchor) const {
    HeadCell found{scales[0], strides[0], anchor};
    int first = 0;
    LATTICE_UNROLL
    for (int i = 1; i < kScales; ++i) {
      first += scales[i - 1].cells;
      if (anchor >= first) found = {scales[i], strides[i], anchor - first};
    }
    return found;
  }

  LATTICE_HOST_DEVICE float Score(int class_id, int anchor) const {
    const HeadCell at = CellOf(anchor);
    return Sigmoid(at.scale.Logit(class_id, at.cell));
  }
  LATTICE_HOST_DEVICE Box BoxAt(int anchor) const {
    const HeadCell at = CellOf(anchor);
    return at.scale.BoxAt(bins, at.stride, at.cell);
  }
};
static_assert(std::is_trivially_copyable_v<DeviceHead>);

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_DEVICE_HEAD_H_
