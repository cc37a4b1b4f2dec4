// The whole native core without Node: models, tasks, files. What the addon wraps.
#ifndef LATTICE_SCHEDULER_CORE_H_
#define LATTICE_SCHEDULER_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/base/crash_marker.h"
#include "native/base/mutex.h"
#include "native/base/serial_thread.h"
#include "native/gpu/gpu_engine.h"
#include "native/scheduler/scheduler.h"

namespace lattice {

// The fields of NativeCoreOptions in src/native/contract.ts.
struct CoreOptions {
  std::vector<std::string> roots;
  // cpu or cuda: the first GPU that can be used, as CUDA counts in this process.
  std::string device = "cpu";
  std::vector<int> gpu_batches = GpuEngineOptions().batches;  // never empty
  std::string precision = "auto";
  int threads = 1;
  bool async_yields = true;
  std::optional<std::vector<InputSize>> rectangles;  // as EngineOptions
  bool hardware_decode = true;                       // the GPU's JPEG engines decode too
  std::string engine_cache;                          // folder of built engines
  size_t most_kept_bytes = EngineOptions().most_kept_bytes;
  size_t max_file_bytes = 64 << 20;
  size_t max_pixels = 64'000'000;
  int max_side = 16'384;
  size_t look_ahead_bytes = size_t{1} << 30;  // async_pixel_bytes of SchedulerOptions
  std::string crash_marker_path;
  std::string abort_on_path_suffix;  // test only
};

// The model to load, and how. On a GPU `path` alone counts.
struct ModelToLoad {
  std::string path;
  // The same model in 8 bits, for CPUs on which that pays (EightBitPays); empty for none.
  std::string eight_bit = {};
  std::string precision = {};  // in the place of that of the options; empty for that one
  bool anew = false;           // as EngineOptions
};

struct LoadedModel {
  uint32_t id = 0;
  ModelInfo info;
  LoadedBatches batches;
};

// The engine is freed on `thread`, whichever thread releases it last; where `thread` was stopped
// before, by that one. Freeing takes long, so neither the event loop nor a holder of a lock should
// do it.
std::shared_ptr<Engine> FreedOn(std::shared_ptr<SerialThread> thread,
                                std::unique_ptr<Engine> engine);

// All methods are thread-safe. Callbacks run on the core's threads and must neither block nor call
// back. A core has one device: the CPU or one GPU.
class Core {
 public:
  using OnModel = std::function<void(Result<LoadedModel>)>;
  using OnFile = std::function<void(Result<FileContent>)>;

  // Starts the threads. kImageNotFound for a root that is no folder, kGpuUnavailable for device
  // cuda where no GPU can be used, kInternalError for a crash marker that cannot be written.
  // `on_device_lost` is called once when the device faulted or does not answer: from then on the
  // process is of no use, and should end and be started again.
  static Result<std::unique_ptr<Core>> Open(const CoreOptions& options,
                                            Scheduler::OnResult on_result,
                                            Scheduler::OnDeviceLost on_device_lost = nullptr);
  ~Core();  // as Close
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Models are loaded one at a time, on a thread of their own. kShuttingDown after Close.
  void LoadModel(ModelToLoad model, OnModel on_model);
  // Calls Engine::AddBatches on the thread that loads models. Fails with kUnknownModel for an
  // unknown id, with kShuttingDown after Close.
  void AddBatches(uint32_t id, std::vector<int> batches, OnModel on_model);
  // The engine is freed when its last task has ended, on the thread that loads models. Unknown ids
  // are ignored.
  void UnloadModel(uint32_t id);
  bool HasModels() const;
  // Null when there is no such model.
  std::shared_ptr<Engine> FindModel(uint32_t id) const;

  // A file, by the rules of image paths. kShuttingDown after Close.
  void ReadFile(std::string path, OnFile on_file);

  uint64_t Submit(std::vector<ImageTask> tasks) { return scheduler_.Submit(std::move(tasks)); }
  size_t Cancel(std::span<const uint64_t> ids) { return scheduler_.Cancel(ids); }
  SchedulerStats stats() const { return scheduler_.stats(); }
  int sync_batches() const { return schedule_.sync.slots / schedule_.sync.wide; }
  int look_ahead() const { return schedule_.AsyncAhead(); }
  int read_ahead() const { return schedule_.ReadAhead(); }
  // Positions of the image folders whose volume does not answer.
  std::vector<size_t> hanging_roots() const { return files_.HangingRoots(); }
  // Why the GPU's JPEG engines do not decode; ok where they do, where they are not wanted and until
  // the first model is loaded.
  Status jpeg_engines() const;
  // Share 0 to 1 of the engine that is being built; -1 while none is.
  double build_share() const { return build_share_; }

  // Does what Scheduler::Close does. Model loads and file reads that began before are finished.
  void Close();

 private:
  Core(const CoreOptions& options, std::optional<int> gpu, std::unique_ptr<CrashMarker> marker,
       RootedFiles files, Scheduler::OnResult on_result, Scheduler::OnDeviceLost on_device_lost);
  void OpenDecoder();
  Result<LoadedModel> Load(const ModelToLoad& model);
  Result<std::unique_ptr<Engine>> LoadEngine(const ModelToLoad& model);
  Result<LoadedModel> AddTo(uint32_t id, std::span<const int> batches);
  // Notes the share; false where the build has to end.
  bool GoesOn(double share);

  const CoreOptions options_;
  const std::optional<int> gpu_;  // none on the CPU
  const SchedulerOptions schedule_;
  std::atomic<double> build_share_ = -1;
  std::atomic<bool> closing_ = false;
  mutable Mutex mutex_;
  uint32_t next_model_ LATTICE_GUARDED_BY(mutex_) = 1;
  std::unordered_map<uint32_t, std::shared_ptr<Engine>> models_ LATTICE_GUARDED_BY(mutex_);
  const std::unique_ptr<CrashMarker> marker_;
  const FileReader files_;
  std::shared_ptr<const ImageDecoder> decoder_;  // of the GPU; of the thread that loads models
  Status jpeg_engines_;                          // read once `decoder_opened_`
  std::atomic<bool> decoder_opened_ = false;
  // Threads last: they end before what they use.
  Scheduler scheduler_;
  const std::shared_ptr<SerialThread> loader_ = std::make_shared<SerialThread>();
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_CORE_H_
