#include "native/decode_route/decode_router.h"

#include <algorithm>
#include <utility>

#include "native/base/stopwatch.h"
#include "native/decode_route/waiting_thread.h"

namespace lattice {
namespace {

constexpr int kMostLosses = 1;
constexpr int kCalibrationRounds = 3;
// How long an image waits for a busy route before all routes are looked at again.
constexpr double kPatienceMs = 5;

double SteadyMs() { return Milliseconds(Clock::now().time_since_epoch()); }

std::vector<RouteDescription> Described(const std::vector<std::unique_ptr<DecodeRoute>>& routes) {
  std::vector<RouteDescription> descriptions;
  descriptions.reserve(routes.size());
  for (const auto& route : routes) descriptions.push_back(route->description());
  return descriptions;
}

Status NoRouteLeft(bool lost) {
  if (lost) return {StatusCode::kGpuLost, "The device was lost while it decoded the image."};
  return {StatusCode::kUnsupportedImageFormat, "No decoder of this machine takes the image."};
}

}  // namespace

struct DecodeRouter::Job : PlannedImage {
  CallerThread* caller = nullptr;
  OnDecoded on_decoded;
  int losses = 0;
};

DecodeRouter::DecodeRouter(std::vector<std::unique_ptr<DecodeRoute>> routes)
    : DecodeRouter(std::move(routes), SteadyMs) {}

DecodeRouter::DecodeRouter(std::vector<std::unique_ptr<DecodeRoute>> routes, Now now)
    : now_(std::move(now)), routes_(std::move(routes)), planner_(Described(routes_)) {}

DecodeRouter::~DecodeRouter() = default;

uint32_t DecodeRouter::RoutesFor(const DecodeRequest& request) const {
  uint32_t takes = 0;
  for (size_t i = 0; i < routes_.size(); ++i) {
    if (routes_[i]->Takes(request)) takes |= uint32_t{1} << i;
  }
  return takes;
}

// With the other routes of its GPU: what lost one of them has lost them all.
uint32_t DecodeRouter::FellowsOf(int route) const {
  const int gpu = routes_[static_cast<size_t>(route)]->description().gpu;
  uint32_t fellows = uint32_t{1} << route;
  for (size_t i = 0; gpu >= 0 && i < routes_.size(); ++i) {
    if (routes_[i]->description().gpu == gpu) fellows |= uint32_t{1} << i;
  }
  return fellows;
}

Result<DecodedImage> DecodeRouter::Decode(const DecodeRequest& request) {
  WaitingThread waiting;
  Submit(request, waiting,
         [&waiting](Result<DecodedImage> decoded) { waiting.Set(std::move(decoded)); });
  return waiting.Wait(kPatienceMs, [this] { Review(); });
}

void DecodeRouter::Submit(const DecodeRequest& request, CallerThread& caller,
                          OnDecoded on_decoded) {
  // Owned by whoever has it in hand: the planner, then its route, then Answer.
  auto job = std::make_unique<Job>();
  job->request = &request;
  job->routes = RoutesFor(request);
  job->caller = &caller;
  job->on_decoded = std::move(on_decoded);
  std::unique_lock lock(mutex_);
  job->sequence = next_sequence_++;
  planner_.Push(job.release());
  StartPlanned(lock);
}

void DecodeRouter::Review() {
  std::unique_lock lock(mutex_);
  StartPlanned(lock);
}

void DecodeRouter::StartPlanned(std::unique_lock<std::mutex>& lock) {
  const std::vector<PlannedImage*> planned = planner_.Plan(now_());
  lock.unlock();
  for (PlannedImage* image : planned) {
    auto* const job = static_cast<Job*>(image);
    if (image->route == kNoRoute) {
      const std::unique_ptr<Job> ended(job);
      ended->on_decoded(NoRouteLeft(ended->losses > 0));
      continue;
    }
    routes_[static_cast<size_t>(image->route)]->Start(
        *image->request, *job->caller,
        [this, job](RouteAnswer answer) { Answer(job, std::move(answer)); });
  }
}

void DecodeRouter::Answer(Job* job, RouteAnswer answer) {
  PlannedImage& image = *job;
  std::unique_lock lock(mutex_);
  planner_.Leave(image, answer.verdict, now_());
  const bool lost = answer.verdict == RouteVerdict::kLost;
  if (lost) ++job->losses;
  const bool again =
      answer.verdict == RouteVerdict::kRefused || (lost && job->losses <= kMostLosses);
  if (again) {
    image.routes &= ~(lost ? FellowsOf(image.route) : uint32_t{1} << image.route);
    planner_.Push(&image);
  }
  StartPlanned(lock);
  if (again) return;
  const std::unique_ptr<Job> ended(job);
  ended->on_decoded(lost ? Result<DecodedImage>(NoRouteLeft(true)) : std::move(answer.image));
}

std::optional<CostSample> DecodeRouter::TimeAlone(size_t route, const DecodeRequest& picture) {
  const int index = static_cast<int>(route);
  {
    const std::lock_guard lock(mutex_);
    if (planner_.lost(index)) return std::nullopt;
  }
  if (!routes_[route]->Takes(picture)) return std::nullopt;
  WaitingThread waiting;
  RouteVerdict verdict = RouteVerdict::kRefused;
  const double start = now_();
  routes_[route]->Start(picture, waiting, [&](RouteAnswer answer) {
    verdict = answer.verdict;
    waiting.Set(std::move(answer.image));
  });
  const bool decoded = waiting.Wait(kPatienceMs, [] {}).ok();
  if (verdict == RouteVerdict::kLost) {
    const std::lock_guard lock(mutex_);
    planner_.Lose(index);
  }
  if (verdict != RouteVerdict::kAnswered || !decoded) return std::nullopt;
  return CostSample{picture.encoded.megapixels(), picture.encoded.kilobytes(), now_() - start};
}

void DecodeRouter::Calibrate(std::span<const DecodeRequest> pictures, double most_ms) {
  const double end = now_() + most_ms;
  std::vector<std::vector<CostSample>> samples(routes_.size());
  for (int round = 0; round < kCalibrationRounds; ++round) {
    for (const DecodeRequest& picture : pictures) {
      for (size_t i = 0; i < routes_.size(); ++i) {
        if (now_() > end) break;
        const std::optional<CostSample> sample = TimeAlone(i, picture);
        // The first round loads code and fills caches.
        if (sample && round > 0) samples[i].push_back(*sample);
      }
    }
  }
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < routes_.size(); ++i) {
    if (!samples[i].empty()) planner_.cost(static_cast<int>(i)).Calibrate(samples[i]);
  }
}

std::vector<RouteStats> DecodeRouter::stats() const {
  const std::lock_guard lock(mutex_);
  return planner_.stats();
}

}  // namespace lattice
