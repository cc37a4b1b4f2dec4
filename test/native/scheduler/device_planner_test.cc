// The choice of a GPU, against simulated ones of equal and unequal speed.
#include "native/scheduler/device_planner.h"

#include <gtest/gtest.h>

#include <numeric>

#include "test/native/scheduler/simulated_gpus.h"

namespace lattice {
namespace {

using test::GpuPlan;
using test::SimulatedGpus;
using test::SimulatedImage;

struct Planned {
  explicit Planned(std::vector<double> slice_ms, DevicePlanner::Slots slots = {1, 1})
      : costs(slice_ms.size()), planner(slice_ms.size(), slots) {
    for (size_t place = 0; place < slice_ms.size(); ++place) {
      costs.Observe(place, 1, slice_ms[place]);
    }
  }

  std::optional<DevicePlanner::Start> Choose(Lane lane, size_t count, double now_ms = 0) {
    const std::vector<PlannedSlice> waiting(count, {&costs, 1});
    return planner.Choose(lane, waiting, 0, now_ms);
  }
  uint64_t Begin(Lane lane, size_t place, double now_ms = 0) {
    return planner.Begin(lane, {&costs, 1}, place, now_ms);
  }

  SliceCosts costs;
  DevicePlanner planner;
};

TEST(DevicePlannerTest, ASyncSliceWaitsAMomentForTheFastGpu) {
  Planned gpus({2, 10});
  EXPECT_EQ(gpus.Choose(Lane::kSync, 1)->place, 0u);
  const uint64_t running = gpus.Begin(Lane::kSync, 0);
  EXPECT_FALSE(gpus.Choose(Lane::kSync, 1, 1));  // done in 3 ms there, in 10 on the free one
  gpus.planner.End(running, true, 2);
  EXPECT_EQ(gpus.Choose(Lane::kSync, 1, 2)->place, 0u);
}

TEST(DevicePlannerTest, SoManyWaitThatTheSlowGpuHelpsWithTheLastOfThem) {
  Planned gpus({2, 10});
  gpus.Begin(Lane::kSync, 0);
  EXPECT_FALSE(gpus.Choose(Lane::kSync, 4));
  const auto start = gpus.Choose(Lane::kSync, 5);  // the fifth would end after 12 ms
  ASSERT_TRUE(start);
  EXPECT_EQ(start->place, 1u);
  EXPECT_EQ(start->slice, 4u);
  gpus.Begin(Lane::kAsync, 0);
  EXPECT_EQ(gpus.Choose(Lane::kAsync, 20)->slice, 0u);  // async ones keep their order
}

TEST(DevicePlannerTest, AGpuThatHangsIsNotWaitedFor) {
  Planned gpus({2, 10});
  gpus.Begin(Lane::kSync, 0);
  EXPECT_FALSE(gpus.Choose(Lane::kSync, 1, 3));
  EXPECT_EQ(gpus.Choose(Lane::kSync, 1, 13)->place, 1u);
}

TEST(DevicePlannerTest, SyncCountsTheAsyncSliceThatRunsButNotThoseBehindIt) {
  Planned gpus({2, 5}, {2, 2});
  gpus.Begin(Lane::kAsync, 0);
  EXPECT_EQ(gpus.Choose(Lane::kSync, 1)->place, 0u);  // 4 against 5
  gpus.Begin(Lane::kAsync, 0);
  EXPECT_EQ(gpus.Choose(Lane::kSync, 1)->place, 0u);
  gpus.Begin(Lane::kSync, 0);
  EXPECT_EQ(gpus.Choose(Lane::kSync, 1)->place, 1u);  // 6 against 5
}

TEST(DevicePlannerTest, LostAndForbiddenGpusGetNothing) {
  Planned gpus({2, 2, 2});
  gpus.planner.Lose(0);
  EXPECT_NE(gpus.Choose(Lane::kSync, 1)->place, 0u);
  const std::vector<PlannedSlice> bound = {{&gpus.costs, 1, 0b001}, {&gpus.costs, 1, 0b100}};
  const auto start = gpus.planner.Choose(Lane::kAsync, bound, 0, 0);
  EXPECT_EQ(start->slice, 1u);
  EXPECT_EQ(start->place, 2u);
  gpus.planner.Lose(1);
  gpus.planner.Lose(2);
  EXPECT_FALSE(gpus.Choose(Lane::kSync, 9));
  EXPECT_EQ(gpus.planner.left(), 0u);
}

TEST(DevicePlannerTest, ASliceBoundToAFarSlowerGpuIsRunThere) {
  Planned gpus({1, 100});
  const std::vector<PlannedSlice> bound = {{&gpus.costs, 1, 0b01}, {&gpus.costs, 1, 0b10}};
  gpus.Begin(Lane::kAsync, 0);
  EXPECT_EQ(gpus.planner.Choose(Lane::kAsync, bound, 0, 0)->slice, 1u);
}

TEST(DevicePlannerTest, ASyncSliceThatPassesSpoilsNoFigure) {
  Planned gpus({20}, {2, 2});
  for (int i = 0; i < 20; ++i) {
    const double now = 1000.0 * i;
    const uint64_t job = gpus.Begin(Lane::kAsync, 0, now);
    const uint64_t sync = gpus.Begin(Lane::kSync, 0, now + 1);
    gpus.planner.End(sync, false, now + 9);
    gpus.planner.End(job, true, now + 28);
  }
  EXPECT_NEAR(gpus.costs.PredictMs(0, 1), 20, 1);
}

std::vector<SimulatedImage> Job(size_t images) { return std::vector<SimulatedImage>(images); }

double IdealMs(const GpuPlan& plan, size_t images) {
  double rate = 0;
  for (const double ms : plan.image_ms) rate += 1 / ms;
  return static_cast<double>(images) / rate;
}

// Milliseconds of a job on GPUs whose speeds have been learned: at the first slices all GPUs look
// equal.
double WarmRun(SimulatedGpus* gpus, const GpuPlan& plan, std::vector<SimulatedImage>* images) {
  auto before = Job(10 * plan.image_ms.size() * plan.most);
  const double begin = gpus->Run(&before);
  for (SimulatedImage& image : *images) image.arrives_ms += begin;
  return gpus->Run(images) - begin;
}

GpuPlan RandomPlan(std::mt19937* random) {
  GpuPlan plan;
  const size_t gpus = 1 + (*random)() % 8;
  const bool equal = (*random)() % 3 == 0;
  for (size_t i = 0; i < gpus; ++i) {
    plan.image_ms.push_back(equal ? 1 : 0.5 + static_cast<double>((*random)() % 40) / 10);
  }
  plan.most = size_t{1} << (*random)() % 5;
  plan.jitter = 0.2;
  return plan;
}

TEST(DevicePlannerTest, AJobRunsOnceAndEndsNearTheIdealOnAnyGpus) {
  std::mt19937 random(11);
  double worst = 0;
  for (unsigned round = 0; round < 200; ++round) {
    const GpuPlan plan = RandomPlan(&random);
    const double fastest = *std::min_element(plan.image_ms.begin(), plan.image_ms.end());
    auto images = Job(100 + random() % 900);
    SimulatedGpus gpus(plan, round);
    const double took = WarmRun(&gpus, plan, &images);
    for (const SimulatedImage& image : images) ASSERT_EQ(image.runs, 1);
    // Three full slices of the fastest GPU are the grain in which work can be shared out.
    const double grain = 3 * static_cast<double>(plan.most) * fastest;
    const double ratio = (took - grain) / IdealMs(plan, images.size());
    worst = std::max(worst, ratio);
    ASSERT_LE(ratio, 1.15) << "round " << round;
  }
  std::printf("worst makespan / ideal over 200 sets of GPUs: %.2f\n", worst);
}

// Mean over many jobs of what the pool's way, any free slot, takes; 1 is the planner.
double AnyFreeSlotRatio(const GpuPlan& plan, size_t images) {
  double planned = 0;
  double any = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    auto job = Job(images);
    SimulatedGpus gpus(plan, seed);
    planned += WarmRun(&gpus, plan, &job);
    GpuPlan pool = plan;
    pool.any_free_slot = true;
    auto again = Job(images);
    SimulatedGpus pooled(pool, seed);
    any += WarmRun(&pooled, pool, &again);
  }
  return any / planned;
}

TEST(DevicePlannerTest, BeatsAnyFreeSlotOnUnequalGpus) {
  const double job = AnyFreeSlotRatio({{1, 4}, 8, 0.1}, 200);
  const double small = AnyFreeSlotRatio({{1, 1, 6}, 8, 0.1}, 40);
  const double equal = AnyFreeSlotRatio({{1, 1, 1, 1}, 8, 0.1}, 200);
  std::printf("any free slot / planner: job on 1:4 %.2f, small job on 1:1:6 %.2f, equal %.2f\n",
              job, small, equal);
  EXPECT_GE(job, 1.1);
  EXPECT_GE(small, 1.3);
  EXPECT_GE(equal, 1);
}

// Sync images at `load` of what the GPUs can do one at a time; p99 of their latency.
double SyncP99(GpuPlan plan, double load, unsigned seed) {
  plan.most = 1;
  std::mt19937 random(seed);
  std::exponential_distribution<double> gap(load / IdealMs(plan, 1));
  std::vector<SimulatedImage> images(4000);
  double now = 0;
  for (SimulatedImage& image : images) {
    image = {Lane::kSync, now += gap(random)};
  }
  SimulatedGpus(plan, seed).Run(&images);
  std::vector<double> latency;
  for (const SimulatedImage& image : images) latency.push_back(image.ends_ms - image.arrives_ms);
  std::nth_element(latency.begin(), latency.begin() + 3960, latency.end());
  return latency[3960];
}

TEST(DevicePlannerTest, SyncLatencyOnUnequalGpusIsFarBelowAnyFreeSlot) {
  GpuPlan plan{{2, 2, 12}, 1, 0.1};
  const double planned = SyncP99(plan, 0.5, 3);
  plan.any_free_slot = true;
  const double any = SyncP99(plan, 0.5, 3);
  std::printf("sync p99 at half load on 2, 2 and 12 ms: planner %.1f ms, any free slot %.1f ms\n",
              planned, any);
  EXPECT_LE(planned, 12);
  EXPECT_GE(any, 1.5 * planned);
}

// A sync image among jobs that fill every GPU waits for one slice of theirs at most, beside sync
// images before it.
TEST(DevicePlannerTest, ALoneSyncImageWaitsForOneAsyncSliceAtMost) {
  std::mt19937 random(5);
  for (unsigned round = 0; round < 40; ++round) {
    GpuPlan plan = RandomPlan(&random);
    plan.jitter = 0.1;
    auto images = Job(1000);
    const double ideal = IdealMs(plan, images.size());
    for (int i = 0; i < 20; ++i) images.push_back({Lane::kSync, ideal * (i + 0.5) / 24});
    SimulatedGpus gpus(plan, round);
    ASSERT_NE(WarmRun(&gpus, plan, &images), SimulatedGpus::kNever);
    const double fastest = *std::min_element(plan.image_ms.begin(), plan.image_ms.end());
    // The fastest GPU's async slice and the image itself, and one more slice for figures not yet
    // learned.
    const double bound = 3 * 1.2 * static_cast<double>(plan.most) * fastest;
    for (size_t i = 1000; i < images.size(); ++i) {
      ASSERT_LE(images[i].ends_ms - images[i].arrives_ms, bound) << round << " " << i;
    }
  }
}

TEST(DevicePlannerTest, EveryGpuWorksInAStreamOfJobsAndSlowOnesThatRecoverToo) {
  SimulatedGpus gpus({{1, 50, 3}, 8, 0.1}, 2);
  auto images = Job(20000);
  bool recovered = false;
  size_t before = 0;
  gpus.on_slice = [&](SimulatedGpus& now) {
    if (recovered || now.now() < 3000) return;
    recovered = true;
    before = now.ImagesOn(1);
    now.SetSpeed(1, 1);
  };
  gpus.Run(&images);
  ASSERT_TRUE(recovered);
  EXPECT_GT(gpus.ImagesOn(2), 2000u);
  EXPECT_GT(gpus.ImagesOn(1), before + 3000);
}

}  // namespace
}  // namespace lattice
