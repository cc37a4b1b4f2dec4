// Decodes images on the routes that a machine has, each where it is done soonest.
#ifndef LATTICE_DECODE_ROUTE_DECODE_ROUTER_H_
#define LATTICE_DECODE_ROUTE_DECODE_ROUTER_H_

#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "native/decode_route/route_planner.h"

namespace lattice {

using OnDecoded = std::function<void(Result<DecodedImage>)>;

// Every image is answered exactly once: decoded, or with its own error. What a route refuses goes
// to the next one; what is on a resource when that is lost goes to another one once, not to one of
// the same GPU, and is kGpuLost the second time or where no other takes it. kUnsupportedImageFormat
// where every route refused. Thread-safe.
class DecodeRouter {
 public:
  // Milliseconds of a steady clock.
  using Now = std::function<double()>;

  // 1 to kMostRoutes routes; of one resource the one to prefer first.
  explicit DecodeRouter(std::vector<std::unique_ptr<DecodeRoute>> routes);
  DecodeRouter(std::vector<std::unique_ptr<DecodeRoute>> routes, Now now);
  // Precondition: every image was answered.
  ~DecodeRouter();
  DecodeRouter(const DecodeRouter&) = delete;
  DecodeRouter& operator=(const DecodeRouter&) = delete;

  // Blocks until the image is decoded; routes of the CPU run on the calling thread.
  Result<DecodedImage> Decode(const DecodeRequest& request);

  // `on_decoded` is called on whichever thread ends the image, perhaps before this returns.
  // `request` and `caller` must live until then. Does not block.
  void Submit(const DecodeRequest& request, CallerThread& caller, OnDecoded on_decoded);

  // Looks again at what waits. Decode's own threads do so often enough; who uses Submit alone calls
  // it every few milliseconds while images are out, since a device that hangs reports nothing.
  void Review();

  // Decodes `pictures` on every route that takes them, some times each, and has its costs begin
  // with what that took. Routes take turns, and none begins a picture later than `most_ms` from
  // now; one that was not reached by then keeps its guess. A device that is lost meanwhile stays
  // so. Blocks; before the first image, where there is more than one resource.
  void Calibrate(std::span<const DecodeRequest> pictures,
                 double most_ms = std::numeric_limits<double>::infinity());

  // Whether there is more than one resource.
  bool has_choice() const { return planner_.has_choice(); }
  std::vector<RouteStats> stats() const;

 private:
  struct Job;

  void Answer(Job* job, RouteAnswer answer);
  // Nothing where the route takes no such picture or did not decode it.
  std::optional<CostSample> TimeAlone(size_t route, const DecodeRequest& picture);
  // Plans under the lock and starts without it.
  void StartPlanned(std::unique_lock<std::mutex>& lock);
  uint32_t RoutesFor(const DecodeRequest& request) const;
  uint32_t FellowsOf(int route) const;

  const Now now_;
  const std::vector<std::unique_ptr<DecodeRoute>> routes_;
  mutable std::mutex mutex_;
  RoutePlanner planner_;
  uint64_t next_sequence_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_DECODE_ROUTER_H_
