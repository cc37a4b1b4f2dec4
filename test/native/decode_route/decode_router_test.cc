#include "native/decode_route/decode_router.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "test/native/decode_route/simulated_machine.h"

namespace lattice::test {
namespace {

using Random = std::mt19937;

int Between(Random& random, int least, int most) {
  return std::uniform_int_distribution(least, most)(random);
}

// True for about `percent` of the images, the same ones each time.
std::function<bool(const DecodeRequest&)> Some(int percent, int salt) {
  return [=](const DecodeRequest& request) {
    return (NumberOf(request) * 7919 + salt * 104729) % 100 < percent;
  };
}

TEST(DecodeRouter, EveryImageIsAnsweredOnceWithItsOwnResult) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Machine machine;
    std::vector<SimulatedRoute*> routes;
    const int devices = Between(random, 0, 4);
    const auto damaged = Some(5, static_cast<int>(seed));
    for (int i = 0; i <= devices; ++i) {
      Behaviour behaviour =
          Costs({0.01 * Between(random, 1, 100), 0.1 * Between(random, 1, 50), 0});
      behaviour.damaged = damaged;
      if (i > 0) behaviour.takes = Some(Between(random, 20, 100), i);
      if (i > 0) behaviour.refuses = Some(Between(random, 0, 60), 10 + i);
      if (Between(random, 0, 4) == 0) behaviour.hangs_until = Between(random, 0, 400);
      routes.push_back(
          &machine.Add("device " + std::to_string(i), Between(random, 1, 6), behaviour));
    }
    machine.router();
    int losses = 0;
    for (int i = 1; i <= devices; ++i) {
      if (Between(random, 0, 2) != 0) continue;
      ++losses;
      machine.simulation.At(Between(random, 0, 300),
                            [route = routes[static_cast<size_t>(i)]] { route->Lose(); });
    }
    const int images = Between(random, 1, 250);
    for (int i = 0; i < images; ++i) {
      const int side = Between(random, 10, 3000);
      const bool sync = Between(random, 0, 3) == 0;
      machine.simulation.At(Between(random, 0, 500), [&machine, side, sync] {
        machine.Send(side, side, static_cast<size_t>(side) * 100, sync);
      });
    }
    machine.simulation.RunUntil(500);
    machine.Finish();

    ASSERT_EQ(machine.sent.size(), static_cast<size_t>(images));
    for (const auto& sent : machine.sent) {
      ASSERT_EQ(sent->answers, 1);
      if (sent->status.code() == StatusCode::kGpuLost) {
        ASSERT_GE(losses, 2) << "one loss must not cost an image";
      } else if (damaged(sent->request)) {
        ASSERT_EQ(sent->status.code(), StatusCode::kInvalidImage);
        ASSERT_EQ(sent->status.message(), std::to_string(NumberOf(sent->request)));
      } else {
        ASSERT_TRUE(sent->status.ok()) << sent->status.message();
        ASSERT_EQ(sent->number, NumberOf(sent->request));
      }
    }
    for (const SimulatedRoute* route : routes) {
      ASSERT_LE(route->most_running, route->description().places);
    }
  }
}

// Images of 0.3, 0.9, 2 and 12 megapixels, as the notes measured them.
void SendMix(Machine& machine, Random& random) {
  constexpr int kWidths[] = {640, 1280, 1920, 4000};
  constexpr int kHeights[] = {480, 720, 1080, 3000};
  constexpr size_t kBytes[] = {44'000, 124'000, 268'000, 1'395'000};
  const int size = std::min(3, Between(random, 0, 20) / 6);
  machine.Send(kWidths[size], kHeights[size], kBytes[size]);
}

enum Use { kCores = 1, kEngines = 2, kKernels = 4 };

// Images a second with `window` of them out at any time.
double Throughput(int use, size_t window) {
  Machine machine;
  Random random(7);
  if ((use & kCores) != 0) machine.Add("cpu", 16, Costs(kCoreCost));
  if ((use & kEngines) != 0) machine.Add("nvjpeg hardware", 7, Costs(kEngineCost));
  if ((use & kKernels) != 0) machine.Add("nvjpeg cuda", 2, Costs(kKernelCost));
  constexpr size_t kImages = 6000;
  machine.on_answer = [&] {
    if (machine.sent.size() < kImages) SendMix(machine, random);
  };
  for (size_t i = 0; i < window; ++i) SendMix(machine, random);
  machine.Finish();
  return 1000 * kImages / machine.simulation.now();
}

TEST(DecodeRouter, AllRoutesTogetherBeatTheBestOne) {
  for (const size_t window : {size_t{64}, size_t{512}}) {
    const double cores = Throughput(kCores, window);
    const double engines = Throughput(kEngines, window);
    const double kernels = Throughput(kKernels, window);
    const double two = Throughput(kCores | kEngines, window);
    const double all = Throughput(kCores | kEngines | kKernels, window);
    std::printf(
        "window %zu: cores %.0f, engines %.0f, kernels %.0f, cores + engines %.0f, all %.0f "
        "images/s\n",
        window, cores, engines, kernels, two, all);
    EXPECT_GE(two, 1.3 * std::max(cores, engines));
    EXPECT_GE(all, 1.3 * std::max({cores, engines, kernels}));
    // Little of what the routes could do together is left undone.
    EXPECT_GE(all, 0.93 * (cores + engines + kernels));
  }
}

TEST(DecodeRouter, CalibratedRouterSendsALoneImageWhereItIsDoneSoonest) {
  Machine machine;
  SimulatedRoute& cores = machine.Add("cpu", 16, Costs(kCoreCost));
  SimulatedRoute& engines = machine.Add("engines", 7, Costs({3, 0.2, 0}));
  machine.Calibrate();
  machine.Send(4000, 3000, 1'395'000, true);  // 38 ms of a core, 5 ms of an engine
  machine.Finish();
  EXPECT_EQ(engines.started.size(), 1u);
  machine.Send(160, 120, 3'000, true);  // 0.2 ms of a core, 3 ms of an engine
  machine.Finish();
  EXPECT_EQ(cores.started.size(), 1u);
}

TEST(DecodeRouter, CalibrationTakesTurnsAndEndsInTime) {
  Machine machine;
  Behaviour slow = Costs({300, 0, 0});
  slow.at_once = true;
  Behaviour quick = Costs({1, 3, 0});
  quick.at_once = true;
  SimulatedRoute& device = machine.Add("device", 1, slow);
  SimulatedRoute& cores = machine.Add("cpu", 1, quick);
  const DecodeRequest pictures[] = {PictureOf(1, 1000, 1000, 1000), PictureOf(2, 2000, 1000, 1000)};
  machine.router().Calibrate(pictures, 1000);
  EXPECT_LE(machine.simulation.now(), 1000 + 300);
  EXPECT_EQ(device.started, (std::vector<int>{1, 2, 1, 2}));
  EXPECT_EQ(cores.started, (std::vector<int>{1, 2, 1}));
  const auto stats = machine.router().stats();
  EXPECT_GT(stats[0].megapixel_ms, 200) << "from one round, beside a guess of 2.5";
  EXPECT_NEAR(stats[1].megapixel_ms, 4, 0.4);
  EXPECT_EQ(stats[0].decoded, 0u) << "measurements are nobody's images";
}

TEST(DecodeRouter, DeviceLostInCalibrationIsAskedNoMore) {
  Machine machine;
  Behaviour quick = Costs({1, 3, 0});
  quick.at_once = true;
  SimulatedRoute& device = machine.Add("device", 4, quick);
  machine.Add("cpu", 1, quick);
  device.Lose();
  const DecodeRequest pictures[] = {PictureOf(1, 1000, 1000, 1000)};
  machine.router().Calibrate(pictures);
  EXPECT_TRUE(machine.router().stats()[0].lost);
  machine.Send(100, 100, 1000);
  machine.Finish();
  EXPECT_TRUE(machine.sent[0]->status.ok());
  EXPECT_EQ(device.started.size(), 1u);
}

TEST(DecodeRouter, SyncImagePassesAsyncOnes) {
  Machine machine;
  machine.Add("cpu", 4, Costs({10, 0, 0}));
  for (int i = 0; i < 500; ++i) machine.Send(100, 100, 1000);
  machine.simulation.RunUntil(15);
  const Machine::Sent& sync = machine.Send(100, 100, 1000, true);
  machine.Finish();
  EXPECT_LE(sync.answered_ms - sync.submitted_ms, 20);  // what runs, then itself
}

TEST(DecodeRouter, AsyncImagesGetTheirTurnUnderSyncOverload) {
  Machine machine;
  machine.Add("cpu", 2, Costs({1, 0, 0}));
  machine.Add("device", 1, Costs({1, 0, 0}));
  const auto answered = [&machine](bool sync) {
    return std::count_if(machine.sent.begin(), machine.sent.end(), [&](const auto& sent) {
      return sent->request.sync == sync && sent->answers == 1;
    });
  };
  for (int i = 0; i < 100; ++i) machine.Send(10, 10, 100);
  for (int ms = 0; ms < 1000; ++ms) {  // 3 ms of work each millisecond is all that they can do
    for (int i = 0; i < 4; ++i) machine.Send(10, 10, 100, true);
    machine.simulation.RunUntil(ms);
  }
  EXPECT_GE(answered(false), 3 * 1000 / (RoutePlanner::kMostPasses + 1) - 5);
  EXPECT_GE(answered(true), 2800);
  machine.Finish();
}

TEST(DecodeRouter, RefusedImageGoesToTheNextRouteAndKeepsItsPlace) {
  Machine machine;
  Behaviour picky = Costs({0.1, 0, 0});
  picky.refuses = [](const DecodeRequest& request) { return NumberOf(request) == 1; };
  SimulatedRoute& device = machine.Add("device", 1, picky);
  SimulatedRoute& cores = machine.Add("cpu", 1, Costs({5, 0, 0}));
  for (int i = 0; i < 30; ++i) machine.Send(100, 100, 1000);
  EXPECT_EQ(cores.started, std::vector<int>{1});
  EXPECT_EQ(device.started, (std::vector<int>{1, 2}));
  machine.Finish();
  EXPECT_TRUE(machine.sent[0]->status.ok());
  EXPECT_EQ(machine.router().stats()[0].refused, 1u);
}

TEST(DecodeRouter, ImageThatNobodyTakesFailsAlone) {
  Machine machine;
  Behaviour picky = Costs({1, 0, 0});
  picky.takes = [](const DecodeRequest& request) { return NumberOf(request) % 3 != 0; };
  picky.refuses = [](const DecodeRequest& request) { return NumberOf(request) % 3 == 1; };
  machine.Add("device", 2, picky);
  for (int i = 0; i < 30; ++i) machine.Send(100, 100, 1000);
  machine.Finish();
  for (const auto& sent : machine.sent) {
    EXPECT_EQ(sent->status.code(), NumberOf(sent->request) % 3 == 2
                                       ? StatusCode::kOk
                                       : StatusCode::kUnsupportedImageFormat);
  }
}

TEST(DecodeRouter, LostDeviceTakesNoImageWithIt) {
  Machine machine;
  SimulatedRoute& device = machine.Add("device", 8, Costs({2, 0, 0}));
  machine.Add("cpu", 2, Costs({4, 0, 0}));
  for (int i = 0; i < 200; ++i) machine.Send(100, 100, 1000);
  machine.simulation.At(11, [&] { device.Lose(); });
  machine.Finish();
  for (const auto& sent : machine.sent) EXPECT_TRUE(sent->status.ok());
  EXPECT_TRUE(machine.router().stats()[0].lost);
  const size_t before = device.started.size();
  machine.Send(100, 100, 1000);
  machine.Finish();
  EXPECT_EQ(device.started.size(), before);
}

TEST(DecodeRouter, TheFaultOfAGpuIsOneLossWhateverRoutesItHad) {
  Machine machine;
  SimulatedRoute& engines = machine.Add("engines", 8, Costs({2, 0, 0}), 0);
  SimulatedRoute& kernels = machine.Add("kernels", 16, Costs({3, 0, 0}), 0);
  machine.Add("cpu", 1, Costs({400, 0, 0}));
  for (int i = 0; i < 12; ++i) machine.Send(100, 100, 1000);
  machine.simulation.At(1, [&] {
    engines.Lose();  // the router does not know of the other one yet
    kernels.Lose();
  });
  machine.Finish();
  for (const auto& sent : machine.sent) EXPECT_TRUE(sent->status.ok());
}

TEST(DecodeRouter, SecondLossIsTheImagesAnswer) {
  Machine machine;
  SimulatedRoute& first = machine.Add("first", 1, Costs({10, 0, 0}));
  SimulatedRoute& second = machine.Add("second", 1, Costs({10, 0, 0}));
  machine.Add("third", 1, Costs({10, 0, 0}));
  const Machine::Sent& image = machine.Send(100, 100, 1000);
  first.Lose();
  ASSERT_EQ(image.answers, 0);
  second.Lose();
  ASSERT_EQ(image.answers, 1);
  EXPECT_EQ(image.status.code(), StatusCode::kGpuLost);
}

TEST(DecodeRouter, HungDeviceHoldsNobodyElseUp) {
  Machine machine;
  Behaviour hanging = Costs({1, 0, 0});
  SimulatedRoute& device = machine.Add("device", 4, hanging);
  machine.Add("cpu", 2, Costs({2, 0, 0}));
  for (int i = 0; i < 200; ++i) machine.Send(100, 100, 1000);
  machine.Finish();
  device.behaviour.hangs_until = machine.simulation.now() + 5000;
  std::vector<Machine::Sent*> sent;
  for (int i = 0; i < 100; ++i) sent.push_back(&machine.Send(100, 100, 1000, i % 2 == 0));
  const double start = machine.simulation.now();
  machine.Finish();
  const auto late = std::count_if(sent.begin(), sent.end(), [&](const Machine::Sent* image) {
    return image->answered_ms - start > 400;  // two cores alone need 200
  });
  EXPECT_EQ(late, 4) << "only what the device has in hand waits for it";
}

TEST(DecodeRouter, CostsFollowADeviceThatChangesItsSpeed) {
  Machine machine;
  SimulatedRoute& device = machine.Add("device", 2, Costs({0.5, 1, 0}));
  SimulatedRoute& cores = machine.Add("cpu", 2, Costs({1, 2, 0}));
  const auto share = [&] {
    const size_t before = device.started.size();
    const size_t all = before + cores.started.size();
    for (int i = 0; i < 600; ++i) {
      machine.Send(1000, 1000, 150'000);
      if (i % 16 == 15) machine.Finish(1e9);
    }
    machine.Finish(1e9);
    return static_cast<double>(device.started.size() - before) /
           static_cast<double>(device.started.size() + cores.started.size() - all);
  };
  const auto learnt_ms = [&] { return machine.router().stats()[0].megapixel_ms; };
  share();
  const double fast = share();
  const double fast_ms = learnt_ms();
  device.behaviour.slowdown = 6;
  share();
  const double slow = share();
  EXPECT_NEAR(learnt_ms() / fast_ms, 6, 0.6);
  device.behaviour.slowdown = 1;
  // It is asked for little while it seems slow: time must pass for it to be looked at again.
  for (int i = 0; i < 60; ++i) {
    machine.simulation.RunUntil(machine.simulation.now() + RoutePlanner::kProbeAfterMs + 1);
    machine.Send(1000, 1000, 150'000);
    machine.Finish(1e9);
  }
  share();
  const double again = share();
  EXPECT_NEAR(learnt_ms() / fast_ms, 1, 0.1);
  EXPECT_GT(fast, 0.55);
  EXPECT_LT(slow, 0.35);
  EXPECT_GT(again, 0.55);
}

}  // namespace
}  // namespace lattice::test
