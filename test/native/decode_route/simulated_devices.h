// Decode routes of devices that do not exist, on a clock that the test owns.
#ifndef LATTICE_TEST_DECODE_ROUTE_SIMULATED_DEVICES_H_
#define LATTICE_TEST_DECODE_ROUTE_SIMULATED_DEVICES_H_

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "native/decode_route/decode_router.h"

namespace lattice::test {

// Events in order of their time, then of their making.
class Simulation {
 public:
  double now() const { return now_; }
  void At(double ms, std::function<void()> event) { events_.emplace(ms, std::move(event)); }

  // Time that passes while everybody waits for one device.
  void Pass(double ms) { now_ += ms; }

  // False when nothing is left to happen.
  bool Step() {
    if (events_.empty()) return false;
    now_ = std::max(now_, events_.begin()->first);
    const auto event = std::move(events_.extract(events_.begin()).mapped());
    event();
    return true;
  }

  void RunUntil(double ms) {
    while (!events_.empty() && events_.begin()->first <= ms) Step();
    now_ = std::max(now_, ms);
  }

 private:
  double now_ = 0;
  std::multimap<double, std::function<void()>> events_;
};

// Images carry their number where nothing else looks: in the limits.
inline int NumberOf(const DecodeRequest& request) { return request.limits.max_side; }

struct Behaviour {
  std::function<bool(const DecodeRequest&)> takes = [](const DecodeRequest&) { return true; };
  std::function<bool(const DecodeRequest&)> refuses = [](const DecodeRequest&) { return false; };
  std::function<bool(const DecodeRequest&)> damaged = [](const DecodeRequest&) { return false; };
  DecodeCost truth;        // what an image really takes
  double slowdown = 1;     // of images that start from now on
  bool at_once = false;    // the clock jumps to the end of each image
  double hangs_until = 0;  // images that start earlier than this end later than this
};

class SimulatedRoute final : public DecodeRoute {
 public:
  SimulatedRoute(Simulation& simulation, RouteDescription description, Behaviour behaviour)
      : behaviour(std::move(behaviour)),
        simulation_(simulation),
        description_(std::move(description)) {}

  const RouteDescription& description() const override { return description_; }
  bool Takes(const DecodeRequest& request) const override { return behaviour.takes(request); }

  void Start(const DecodeRequest& request, CallerThread&, OnRouteAnswer on_answer) override {
    started.push_back(NumberOf(request));
    if (lost) return on_answer({RouteVerdict::kLost, Status()});
    if (behaviour.refuses(request)) return on_answer({RouteVerdict::kRefused, Status()});
    most_running = std::max(most_running, ++running);
    const double ms = behaviour.slowdown *
                      behaviour.truth.Of(request.encoded.megapixels(), request.encoded.kilobytes());
    const double end = std::max(simulation_.now() + ms, behaviour.hangs_until);
    if (behaviour.at_once) {
      --running;
      simulation_.Pass(ms);
      return on_answer({RouteVerdict::kAnswered, DecodedImage{{}, NumberOf(request), 0, 1}});
    }
    const auto pending = std::make_shared<Pending>(Pending{&request, std::move(on_answer)});
    pending_.push_back(pending);
    simulation_.At(end, [this, pending] { End(pending, RouteVerdict::kAnswered); });
  }

  // Everything in hand comes back at once, and all that comes later.
  void Lose() {
    lost = true;
    const auto in_hand = std::exchange(pending_, {});
    for (const auto& pending : in_hand) End(pending, RouteVerdict::kLost);
  }

  Behaviour behaviour;
  bool lost = false;
  int running = 0;
  int most_running = 0;
  std::vector<int> started;  // numbers of images

 private:
  struct Pending {
    const DecodeRequest* request;
    OnRouteAnswer on_answer;
  };

  void End(const std::shared_ptr<Pending>& pending, RouteVerdict verdict) {
    if (!pending->on_answer) return;  // lost before
    std::erase(pending_, pending);
    --running;
    const OnRouteAnswer on_answer = std::exchange(pending->on_answer, nullptr);
    const int number = NumberOf(*pending->request);
    if (verdict == RouteVerdict::kAnswered && behaviour.damaged(*pending->request)) {
      return on_answer({verdict, Status(StatusCode::kInvalidImage, std::to_string(number))});
    }
    on_answer({verdict, DecodedImage{{}, number, 0, 1}});
  }

  Simulation& simulation_;
  const RouteDescription description_;
  std::vector<std::shared_ptr<Pending>> pending_;
};

// Simulated routes never ask for it.
class NoCaller final : public CallerThread {
 public:
  void Run(std::function<void()> work) override { work(); }
};

inline DecodeRequest PictureOf(int number, int width, int height, size_t bytes, bool sync = false) {
  static const std::vector<uint8_t> zeros(8 << 20);
  DecodeRequest request;
  request.encoded.bytes = std::span(zeros).first(bytes);
  request.encoded.format = ImageFormat::kJpeg;
  request.encoded.jpeg.width = width;
  request.encoded.jpeg.height = height;
  request.encoded.jpeg.components = 3;
  request.encoded.jpeg.sampling = {0x22, 0x11, 0x11};
  request.limits.max_side = number;
  request.sync = sync;
  return request;
}

}  // namespace lattice::test

#endif  // LATTICE_TEST_DECODE_ROUTE_SIMULATED_DEVICES_H_
