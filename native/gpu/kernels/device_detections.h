// Requests and results of the detection kernels, with the same layout on host and GPU.
#ifndef LATTICE_GPU_KERNELS_DEVICE_DETECTIONS_H_
#define LATTICE_GPU_KERNELS_DEVICE_DETECTIONS_H_

#include <cstdint>
#include <type_traits>

#include "native/boxes/detections.h"

namespace lattice {

inline constexpr int kMostDetections = 300;
inline constexpr int kMostClasses = 1024;
inline constexpr int kMostAnchors = 32'768;

// Whether the kernels take so many.
constexpr bool IsServed(int classes, int anchors) {
  return classes > 0 && classes <= kMostClasses && anchors > 0 && anchors <= kMostAnchors;
}

// The options of one image of a batch; fields as in DetectionOptions.
struct DeviceRequest {
  float confidence = 0.25f;
  float logit_floor = 0;  // LogitFloor(confidence)
  float iou = 0.7f;
  int32_t max_detections = kMostDetections;     // at most kMostDetections count
  uint32_t all_classes = 1;                     // not 0: class_mask is ignored
  uint32_t class_mask[kMostClasses / 32] = {};  // class c: bit c % 32 of word c / 32
  LetterboxTransform transform;
};
static_assert(std::is_trivially_copyable_v<DeviceRequest>);

// Rows as Detection: x1, y1, x2, y2, score, class. The contents from row `count` on are
// unspecified.
struct DeviceDetections {
  int32_t count;
  int32_t truncated;  // 0 or 1
  float rows[kMostDetections][6];
};
static_assert(sizeof(DeviceDetections) == 7208);

// Class ids outside 0 to kMostClasses - 1 match nothing, as on the CPU.
inline DeviceRequest MakeDeviceRequest(const DetectionOptions& options,
                                       const LetterboxTransform& transform) {
  DeviceRequest request;
  request.confidence = options.confidence;
  request.logit_floor = LogitFloor(options.confidence);
  request.iou = options.iou;
  request.max_detections = options.max_detections;
  request.all_classes = options.class_ids.empty() ? 1 : 0;
  for (const int id : options.class_ids) {
    if (id >= 0 && id < kMostClasses) request.class_mask[id / 32] |= uint32_t{1} << (id % 32);
  }
  request.transform = transform;
  return request;
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_DEVICE_DETECTIONS_H_
