// Which waiting image goes to which route, and when. Only arithmetic: no thread, no clock.
#ifndef LATTICE_DECODE_ROUTE_ROUTE_PLANNER_H_
#define LATTICE_DECODE_ROUTE_ROUTE_PLANNER_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "native/decode_route/cost_model.h"
#include "native/decode_route/decode_route.h"

namespace lattice {

inline constexpr int kMostRoutes = 32;
inline constexpr int kNoRoute = -1;

// An image as the planner sees it; the owner keeps it alive until the planner has it no more.
struct PlannedImage {
  const DecodeRequest* request = nullptr;
  uint32_t routes = 0;  // bit i: route i may decode it
  uint64_t sequence = 0;
  int route = kNoRoute;  // where it is
  double started_ms = 0;
  double predicted_ms = 0;
};

struct RouteStats {
  std::string name;
  std::string resource;
  uint64_t decoded = 0;  // answered, faulty images included
  uint64_t refused = 0;
  double megapixel_ms = 0;  // what a baseline JPEG of 1000 x 1000 would take, its bytes apart
  bool lost = false;
};

// Images wait in one queue, sync ones in front, and are bound to a route only when they start: so
// nothing waits at a route that turns out slow or lost. An image goes where its predicted
// completion is earliest; where that is a busy route, it waits for it and counts as its load for
// all images behind it. Of the routes of one resource the first one that takes the image decodes
// it, whatever the load, so that an image's pixels depend on the load as little as they can.
//
// After kMostPasses sync images in a row have started while an async one waited, that one is in
// front.
// A route that nothing was sent to for a while gets an async image even where it seems slow: its
// cost may have changed. Not thread-safe. Times are milliseconds of any steady clock.
class RoutePlanner {
 public:
  static constexpr int kMostPasses = 32;
  static constexpr double kProbeAfterMs = 1000;

  // At most kMostRoutes.
  explicit RoutePlanner(const std::vector<RouteDescription>& routes);

  void Push(PlannedImage* image);
  // Images to start now, `route` set; kNoRoute where every route that may take it is excluded or
  // lost. Those are the owner's business from here on.
  std::vector<PlannedImage*> Plan(double now_ms);
  // `image` has left its route. Only an answer is measured: a refusal says nothing about speed.
  void Leave(const PlannedImage& image, RouteVerdict verdict, double now_ms);

  bool has_choice() const { return resources_.size() > 1; }
  bool lost(int route) const;
  // As a Leave with kLost, of an image that the planner never saw.
  void Lose(int route);
  CostModel& cost(int route) { return routes_[static_cast<size_t>(route)].cost; }
  std::vector<RouteStats> stats() const;

 private:
  struct Resource {
    std::string name;
    int places = 1;
    bool lost = false;
    double idle_since_ms = 0;
    std::vector<const PlannedImage*> running;
    std::vector<double> free_at;  // scratch of Plan: when each place is free
  };
  struct Route {
    size_t resource;
    CostModel cost;
    RouteStats stats;
  };
  struct Choice {
    int route = kNoRoute;
    double cost_ms = 0;
    double completes_ms = 0;
    double* place = nullptr;  // when it is free
  };

  void CountPlaces(double now_ms);
  Choice BestFor(const PlannedImage& image, double now_ms);
  Choice FirstOf(size_t resource, const PlannedImage& image);
  bool AsyncFirst() const;
  void Start(PlannedImage* image, const Choice& choice, double now_ms);
  size_t FreePlaces(double now_ms) const;

  std::vector<Resource> resources_;
  std::vector<Route> routes_;
  std::deque<PlannedImage*> sync_;
  std::deque<PlannedImage*> async_;
  int passes_ = 0;  // sync images started since an async one could have
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_ROUTE_PLANNER_H_
