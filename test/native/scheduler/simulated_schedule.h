// A scheduler over a simulated device, and the tasks that it is given.
#ifndef LATTICE_TEST_SCHEDULER_SIMULATED_SCHEDULE_H_
#define LATTICE_TEST_SCHEDULER_SIMULATED_SCHEDULE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "native/scheduler/scheduler.h"
#include "test/native/scheduler/simulated_engine.h"
#include "test/native/scheduler/task_results.h"

namespace lattice::test {

class SimulatedSchedule : public testing::Test {
 protected:
  struct Sizes {
    int decode_threads = 1;
    int async_batch = 1;
    size_t async_pixel_bytes = size_t{1} << 30;
    size_t sync_pixel_bytes = size_t{1} << 30;
  };

  SimulatedSchedule() { EXPECT_TRUE(InitDecoders().ok()); }

  void Start(const SimulatedEngine::Options& options, unsigned seed, const Sizes& sizes) {
    engine_ = std::make_shared<SimulatedEngine>(options, seed);
    results_ = std::make_unique<TaskResults>();
    const ClassOptions both{options.slots};
    SchedulerOptions schedule{sizes.decode_threads, both, both};
    schedule.async_batch = sizes.async_batch;
    schedule.async_pixel_bytes = sizes.async_pixel_bytes;
    schedule.sync_pixel_bytes = sizes.sync_pixel_bytes;
    scheduler_ = std::make_unique<Scheduler>(
        schedule, files_, *marker_, [this](TaskResult result) { results_->Add(std::move(result)); },
        [this](const Status& status) {
          EXPECT_EQ(status.code(), StatusCode::kGpuLost);
          ++device_losses_;
        });
  }

  void TearDown() override {
    if (engine_ != nullptr) engine_->Release();
    scheduler_.reset();
  }

  // The id is the image's mark; the image is one row.
  ImageTask Task(uint64_t id, WorkClass work_class = WorkClass::kAsync, double priority = 0,
                 int width = 64) const {
    ImageTask task;
    task.id = id;
    task.engine = engine_;
    task.pixels = Image{width, 1, ByteBuffer(size_t{3} * static_cast<size_t>(width))};
    for (size_t byte = 0; byte < 3; ++byte) {
      task.pixels->data[byte] = static_cast<uint8_t>(id >> 8 * byte & 0xff);
    }
    task.work_class = work_class;
    task.priority = priority;
    return task;
  }

  ImageTask FileTask(uint64_t id, std::string path = "shapes.png") const {
    ImageTask task = Task(id);
    task.pixels.reset();
    task.path = std::move(path);
    return task;
  }

  void Submit(ImageTask task) { EXPECT_EQ(scheduler_->Submit({std::move(task)}), 0u); }

  // Submits tasks made by `next`, some with deadlines, with cancels and pauses in between and, in
  // one of four cases, Close after half of them. Waits until all are answered, and closes.
  void RunAtRandom(std::mt19937& random, uint64_t count,
                   const std::function<ImageTask(uint64_t id)>& next) {
    const bool ends_early = random() % 4 == 0;
    for (uint64_t id = 1; id <= count; ++id) {
      ImageTask task = next(id);
      if (random() % 10 == 0) task.deadline_ms = 1 + static_cast<double>(random() % 30);
      Submit(std::move(task));
      if (random() % 8 == 0) scheduler_->Cancel({{1 + random() % id}});
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (ends_early && id == count / 2) scheduler_->Close();
    }
    for (uint64_t id = 1; id <= count; ++id) results_->Wait(id);
    scheduler_->Close();
    ASSERT_EQ(results_->size(), count);
    const SchedulerStats stats = scheduler_->stats();
    ASSERT_EQ(stats.completed + stats.failed + stats.cancelled, count);
    ASSERT_EQ(stats.inferring + stats.decoding, 0u);
    ASSERT_EQ(stats.held_bytes + stats.held_file_bytes, 0u);
  }

  StatusCode CodeOf(uint64_t id) { return results_->Wait(id).status.code(); }

  FileReader files_{*RootedFiles::Open({LATTICE_SOURCE_DIR "/models/demo"}, 1 << 20)};
  std::unique_ptr<CrashMarker> marker_ = *CrashMarker::Open("");
  std::atomic<int> device_losses_ = 0;
  std::shared_ptr<SimulatedEngine> engine_;
  std::unique_ptr<TaskResults> results_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_SCHEDULER_SIMULATED_SCHEDULE_H_
