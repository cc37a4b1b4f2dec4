// Times the stages of a batch on a GPU.
#ifndef LATTICE_BENCH_SLOT_TIMER_H_
#define LATTICE_BENCH_SLOT_TIMER_H_

#include <vector>

#include "native/base/status.h"
#include "native/gpu/tensorrt/tensorrt_slot.h"

namespace lattice {

// Medians in milliseconds, by the GPU's clock unless said otherwise, each stage alone in a recorded
// graph. Images are 640 x 480, 4:2:0 and empty, so suppression has little to do.
struct BatchTimes {
  int batch = 0;          // images of the measured batch
  double network_ms = 0;  // the bare network
  double copy_ms = 0;     // pixels and requests to the GPU, boxes back
  double letterbox_ms = 0;
  double boxes_ms = 0;   // box decode and suppression; 0 where the host does it
  double whole_ms = 0;   // everything, as TensorRtSlot::Run does it
  double launch_ms = 0;  // host time of the one launch
  double empty_ms = 0;   // host time until an empty graph has ended
};

// Records the stages of a slot. The thread's current GPU must be the slot's, and nothing else may
// use the slot meanwhile.
class SlotTimer {
 public:
  explicit SlotTimer(TensorRtSlot& slot) : slot_(slot) {}

  // The smallest batch size that holds `batch` images, else the largest, timed `rounds` times, at
  // least once. What else the GPU does meanwhile is in the figures. Codes of TensorRtSlot::Run.
  Result<BatchTimes> Time(int batch, int rounds);

 private:
  // `graphs`: copies, letterbox, network, box decode, nothing.
  Result<BatchTimes> TimeStages(const TensorRtSlot::Bucket& bucket,
                                const std::vector<Graph>& graphs, int rounds);

  TensorRtSlot& slot_;
};

}  // namespace lattice

#endif  // LATTICE_BENCH_SLOT_TIMER_H_
