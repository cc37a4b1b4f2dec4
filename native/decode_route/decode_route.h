// One way of decoding: the cores, a hardware engine, a GPU's kernels.
#ifndef LATTICE_DECODE_ROUTE_DECODE_ROUTE_H_
#define LATTICE_DECODE_ROUTE_DECODE_ROUTE_H_

#include <functional>
#include <string>

#include "native/decode_route/cost_model.h"
#include "native/decode_route/decode_request.h"

namespace lattice {

struct RouteDescription {
  std::string name;      // "cpu", "cpu reduced", "nvjpeg hardware" ...
  std::string resource;  // routes of one resource share its places and its fate
  int places = 1;   // images that the resource decodes at once; the first of its routes says it
  DecodeCost cost;  // before anything was measured
  int gpu = -1;     // whose fault takes the resource along; -1: none's
};

enum class RouteVerdict {
  kAnswered,  // decoded, or the image itself is at fault
  kRefused,   // not an image for this route: another one decodes it
  kLost,      // the resource is gone for good; the image may go elsewhere once
};

struct RouteAnswer {
  RouteVerdict verdict = RouteVerdict::kAnswered;
  Result<DecodedImage> image;
};

using OnRouteAnswer = std::function<void(RouteAnswer)>;

// The thread that brought an image and waits for it.
class CallerThread {
 public:
  virtual ~CallerThread() = default;
  // Has it run `work`, soon and once.
  virtual void Run(std::function<void()> work) = 0;
};

// A route is asked from any thread, and for no more images at once than its resource has places. It
// answers every image within bounded time, with kLost where its device does not come back. What a
// device cannot decode is refused rather than failed: only a decoder of the host says that a file
// is damaged.
class DecodeRoute {
 public:
  virtual ~DecodeRoute() = default;

  virtual const RouteDescription& description() const = 0;
  // By format, process, sampling and size. Cheap; called under the router's lock.
  virtual bool Takes(const DecodeRequest& request) const = 0;
  // Calls `on_answer` exactly once, from any thread, also before it returns. Must not block.
  // `request` lives until then, `caller` too.
  virtual void Start(const DecodeRequest& request, CallerThread& caller,
                     OnRouteAnswer on_answer) = 0;
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_DECODE_ROUTE_H_
