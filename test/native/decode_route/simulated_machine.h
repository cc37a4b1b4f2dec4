// A router over simulated routes, and the images that were sent through it.
#ifndef LATTICE_TEST_DECODE_ROUTE_SIMULATED_MACHINE_H_
#define LATTICE_TEST_DECODE_ROUTE_SIMULATED_MACHINE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/native/decode_route/simulated_devices.h"

namespace lattice::test {

// What the notes' measurements and projections say of a server: one core of 16, one of 7 JPEG
// engines, kernels of a GPU with the entropy decode on it.
inline constexpr DecodeCost kCoreCost = {0.1, 2.2, 0.008};
inline constexpr DecodeCost kEngineCost = {0.1, 1.0 / 0.515, 0};
inline constexpr DecodeCost kKernelCost = {0.6, 1.2, 0.001};

class Machine {
 public:
  struct Sent {
    DecodeRequest request;
    double submitted_ms = 0;
    double answered_ms = -1;
    int answers = 0;
    Status status;
    int number = -1;  // that the answer carries
  };

  // What the route says of its own costs is the default, far from the truth.
  SimulatedRoute& Add(const std::string& name, int places, Behaviour behaviour, int gpu = -1) {
    RouteDescription description{name, name, places, {}, gpu};
    auto route = std::make_unique<SimulatedRoute>(simulation, description, std::move(behaviour));
    simulated_.push_back(route.get());
    routes_.push_back(std::move(route));
    return *simulated_.back();
  }

  DecodeRouter& router() {
    if (!router_) {
      router_ =
          std::make_unique<DecodeRouter>(std::move(routes_), [this] { return simulation.now(); });
    }
    return *router_;
  }

  // With pictures of three sizes.
  void Calibrate() {
    DecodeRouter& calibrated = router();
    const DecodeRequest pictures[] = {PictureOf(1, 640, 480, 44'000),
                                      PictureOf(2, 1920, 1080, 268'000),
                                      PictureOf(3, 1024, 1024, 90'000)};
    for (SimulatedRoute* route : simulated_) route->behaviour.at_once = true;
    calibrated.Calibrate(pictures);
    for (SimulatedRoute* route : simulated_) {
      route->behaviour.at_once = false;
      route->started.clear();
    }
  }

  // Numbers count from 1.
  Sent& Send(int width, int height, size_t bytes, bool sync = false) {
    const int number = static_cast<int>(sent.size()) + 1;
    sent.push_back(std::make_unique<Sent>());
    Sent& entry = *sent.back();
    entry.request = PictureOf(number, width, height, bytes, sync);
    entry.submitted_ms = simulation.now();
    ++out;
    router().Submit(entry.request, caller_, [this, &entry](Result<DecodedImage> decoded) {
      ++entry.answers;
      entry.answered_ms = simulation.now();
      entry.status = decoded.status();
      if (decoded.ok()) entry.number = decoded->source_width;
      --out;
      if (on_answer) on_answer();
    });
    return entry;
  }

  // Until every image is answered; fails after `limit_ms` of simulated time.
  void Finish(double limit_ms = 1e7) {
    while (out > 0 && simulation.now() < limit_ms) {
      simulation.RunUntil(simulation.now() + 5);
      router().Review();
    }
    EXPECT_EQ(out, 0) << "images wait for ever";
  }

  Simulation simulation;
  std::vector<std::unique_ptr<Sent>> sent;
  size_t out = 0;
  std::function<void()> on_answer;

 private:
  NoCaller caller_;
  std::vector<std::unique_ptr<DecodeRoute>> routes_;
  std::vector<SimulatedRoute*> simulated_;
  std::unique_ptr<DecodeRouter> router_;
};

inline Behaviour Costs(const DecodeCost& truth) {
  Behaviour behaviour;
  behaviour.truth = truth;
  return behaviour;
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_DECODE_ROUTE_SIMULATED_MACHINE_H_
