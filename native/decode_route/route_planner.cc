#include "native/decode_route/route_planner.h"

#include <algorithm>

namespace lattice {
namespace {

// More waiting images than this change nothing about those that can start now.
constexpr size_t kLookAhead = 256;

// An image that has taken longer than predicted may take that long again: so the place of a hung
// device seems the farther away the longer it hangs.
double FreeAt(const PlannedImage& running, double now_ms) {
  const double end = running.started_ms + running.predicted_ms;
  return end > now_ms ? end : now_ms + std::max(now_ms - end, 0.1 * running.predicted_ms);
}

}  // namespace

RoutePlanner::RoutePlanner(const std::vector<RouteDescription>& routes) {
  for (const RouteDescription& route : routes) {
    const auto found = std::find_if(resources_.begin(), resources_.end(),
                                    [&](const Resource& r) { return r.name == route.resource; });
    const auto resource = static_cast<size_t>(found - resources_.begin());
    if (found == resources_.end()) {
      resources_.push_back({route.resource, route.places, false, 0, {}, {}});
    }
    RouteStats stats;
    stats.name = route.name;
    stats.resource = route.resource;
    routes_.push_back({resource, CostModel(route.cost), std::move(stats)});
  }
}

bool RoutePlanner::lost(int route) const {
  return resources_[routes_[static_cast<size_t>(route)].resource].lost;
}

void RoutePlanner::Lose(int route) {
  resources_[routes_[static_cast<size_t>(route)].resource].lost = true;
}

void RoutePlanner::Push(PlannedImage* image) {
  std::deque<PlannedImage*>& queue = image->request->sync ? sync_ : async_;
  // From the back: only an image that a route gave back is older than the last one.
  auto at = queue.end();
  while (at != queue.begin() && (*(at - 1))->sequence > image->sequence) --at;
  queue.insert(at, image);
}

size_t RoutePlanner::FreePlaces(double now_ms) const {
  size_t free = 0;
  for (const Resource& resource : resources_) {
    free += static_cast<size_t>(std::count_if(resource.free_at.begin(), resource.free_at.end(),
                                              [&](double at) { return at <= now_ms; }));
  }
  return free;
}

void RoutePlanner::CountPlaces(double now_ms) {
  for (Resource& resource : resources_) {
    resource.free_at.clear();
    if (resource.lost) continue;
    for (const PlannedImage* image : resource.running) {
      resource.free_at.push_back(FreeAt(*image, now_ms));
    }
    resource.free_at.resize(static_cast<size_t>(resource.places), now_ms);
  }
}

RoutePlanner::Choice RoutePlanner::FirstOf(size_t resource, const PlannedImage& image) {
  Choice choice;
  for (size_t i = 0; i < routes_.size(); ++i) {
    if (routes_[i].resource != resource || (image.routes >> i & 1) == 0) continue;
    choice.route = static_cast<int>(i);
    choice.cost_ms = routes_[i].cost.PredictMs(image.request->encoded);
    auto& places = resources_[resource].free_at;
    choice.place = &*std::min_element(places.begin(), places.end());
    choice.completes_ms = *choice.place + choice.cost_ms;
    break;
  }
  return choice;
}

RoutePlanner::Choice RoutePlanner::BestFor(const PlannedImage& image, double now_ms) {
  Choice best;
  for (size_t r = 0; r < resources_.size(); ++r) {
    if (resources_[r].lost) continue;
    const Choice choice = FirstOf(r, image);
    if (choice.route == kNoRoute) continue;
    const bool probe = has_choice() && !image.request->sync && resources_[r].running.empty() &&
                       *choice.place <= now_ms &&
                       now_ms - resources_[r].idle_since_ms > kProbeAfterMs;
    if (probe) return choice;
    if (best.route == kNoRoute || choice.completes_ms < best.completes_ms) best = choice;
  }
  return best;
}

bool RoutePlanner::AsyncFirst() const { return passes_ >= kMostPasses; }

void RoutePlanner::Start(PlannedImage* image, const Choice& choice, double now_ms) {
  if (image->request->sync) {
    if (!async_.empty()) ++passes_;
  } else {
    passes_ = 0;
  }
  image->route = choice.route;
  image->started_ms = now_ms;
  image->predicted_ms = choice.cost_ms;
  if (choice.route == kNoRoute) return;
  resources_[routes_[static_cast<size_t>(choice.route)].resource].running.push_back(image);
}

std::vector<PlannedImage*> RoutePlanner::Plan(double now_ms) {
  std::vector<PlannedImage*> started;
  if (sync_.empty() && async_.empty()) return started;
  CountPlaces(now_ms);
  size_t free = FreePlaces(now_ms);
  size_t at_sync = 0;
  size_t at_async = 0;
  for (size_t seen = 0; seen < kLookAhead; ++seen) {
    const bool more_sync = at_sync < sync_.size();
    const bool more_async = at_async < async_.size();
    if (!more_sync && !more_async) break;
    const bool sync = more_sync && !(more_async && at_async == 0 && AsyncFirst());
    std::deque<PlannedImage*>& queue = sync ? sync_ : async_;
    size_t& at = sync ? at_sync : at_async;
    PlannedImage* const image = queue[at];
    const Choice choice = BestFor(*image, now_ms);
    const bool starts = choice.route == kNoRoute || *choice.place <= now_ms;
    if (choice.route != kNoRoute) {
      if (starts) --free;
      *choice.place = choice.completes_ms;
    }
    if (!starts) {
      ++at;
      if (free == 0) break;
      continue;
    }
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
    Start(image, choice, now_ms);
    started.push_back(image);
  }
  return started;
}

void RoutePlanner::Leave(const PlannedImage& image, RouteVerdict verdict, double now_ms) {
  Route& route = routes_[static_cast<size_t>(image.route)];
  Resource& resource = resources_[route.resource];
  std::erase(resource.running, &image);
  resource.idle_since_ms = now_ms;
  if (verdict == RouteVerdict::kAnswered) {
    ++route.stats.decoded;
    route.cost.Observe(image.request->encoded, now_ms - image.started_ms);
  } else if (verdict == RouteVerdict::kRefused) {
    ++route.stats.refused;
  } else {
    resource.lost = true;
  }
}

std::vector<RouteStats> RoutePlanner::stats() const {
  EncodedImage typical;
  typical.format = ImageFormat::kJpeg;
  typical.jpeg.width = typical.jpeg.height = 1000;
  std::vector<RouteStats> all;
  for (const Route& route : routes_) {
    all.push_back(route.stats);
    all.back().megapixel_ms = route.cost.PredictMs(typical);
    all.back().lost = resources_[route.resource].lost;
  }
  return all;
}

}  // namespace lattice
