// The progress of an engine's build, from the phases that TensorRT reports.
#ifndef LATTICE_GPU_TENSORRT_BUILD_PROGRESS_H_
#define LATTICE_GPU_TENSORRT_BUILD_PROGRESS_H_

#include <mutex>
#include <string>
#include <vector>

namespace lattice {

// Phases nest: a phase of `steps` steps runs within one step of its parent. Thread-safe.
class BuildProgress {
 public:
  // A phase with an unknown or empty parent is a phase of the whole build.
  void Start(const std::string& phase, const std::string& parent, int steps);
  // Steps 0 to `step` of the phase are done.
  void FinishStep(const std::string& phase, int step);
  void Finish(const std::string& phase);

  // 0 to 1; never falls, although later phases are not known in advance.
  double share() const;

 private:
  struct Phase {
    std::string name;
    int steps = 1;
    int done = 0;
  };

  void Advance();

  mutable std::mutex mutex_;
  std::vector<Phase> open_;  // outermost first
  double share_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_BUILD_PROGRESS_H_
