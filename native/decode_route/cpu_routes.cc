#include "native/decode_route/cpu_routes.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace lattice {
namespace {

constexpr const char* kCores = "cpu";

// Answers what `decode` throws; a route must answer whatever happens.
void StartOnCaller(CallerThread& caller, OnRouteAnswer on_answer,
                   std::function<RouteAnswer()> decode) {
  caller.Run([decode = std::move(decode), on_answer = std::move(on_answer)] {
    std::optional<RouteAnswer> answer;
    try {
      answer.emplace(decode());
    } catch (const std::exception&) {
      answer.emplace(RouteAnswer{
          RouteVerdict::kAnswered,
          Status(StatusCode::kInternalError, "The image could not be decoded: out of memory.")});
    }
    on_answer(*std::move(answer));
  });
}

class FullRoute final : public DecodeRoute {
 public:
  explicit FullRoute(int places) : description_{"cpu", kCores, places, {0.05, 2.5, 0.004}} {}

  const RouteDescription& description() const override { return description_; }
  bool Takes(const DecodeRequest&) const override { return true; }

  void Start(const DecodeRequest& request, CallerThread& caller, OnRouteAnswer on_answer) override {
    StartOnCaller(caller, std::move(on_answer), [&request]() -> RouteAnswer {
      auto image = Decode(request.encoded.bytes, request.limits, request.memory, request.wanted);
      if (!image.ok()) return {RouteVerdict::kAnswered, image.status()};
      const int width = image->width;
      const int height = image->height;
      return {RouteVerdict::kAnswered, DecodedImage{*std::move(image), width, height, 1}};
    });
  }

 private:
  const RouteDescription description_;
};

class ReducedRoute final : public DecodeRoute {
 public:
  explicit ReducedRoute(const CpuRouteOptions& options)
      : least_reduced_(options.least_reduced),
        description_{"cpu reduced", kCores, options.places, {0.05, 0.8, 0.006}} {}

  const RouteDescription& description() const override { return description_; }

  bool Takes(const DecodeRequest& request) const override {
    return ReductionFor(request, least_reduced_) > 1;
  }

  void Start(const DecodeRequest& request, CallerThread& caller, OnRouteAnswer on_answer) override {
    const int reduction = ReductionFor(request, least_reduced_);
    StartOnCaller(caller, std::move(on_answer), [&request, reduction]() -> RouteAnswer {
      const EncodedImage& encoded = request.encoded;
      auto image = DecodeReduced(encoded.bytes, request.limits, reduction, request.memory);
      if (!image) return {RouteVerdict::kRefused, Status()};
      const bool turned = encoded.jpeg.exif_orientation >= 5;
      const int width = turned ? encoded.jpeg.height : encoded.jpeg.width;
      const int height = turned ? encoded.jpeg.width : encoded.jpeg.height;
      return {RouteVerdict::kAnswered, DecodedImage{*std::move(image), width, height, reduction}};
    });
  }

 private:
  const double least_reduced_;
  const RouteDescription description_;
};

}  // namespace

int ReductionFor(const DecodeRequest& request, double least_reduced) {
  const JpegHeader& jpeg = request.encoded.jpeg;
  const bool empty = jpeg.width <= 0 || jpeg.height <= 0 || request.input_width <= 0;
  if (least_reduced <= 0 || empty) return 1;
  const bool turned = jpeg.exif_orientation >= 5;
  const double across = static_cast<double>(turned ? jpeg.height : jpeg.width);
  const double down = static_cast<double>(turned ? jpeg.width : jpeg.height);
  // Source pixels of one pixel of the letterboxed picture, along one side.
  const double step = std::max(across / request.input_width, down / request.input_height);
  for (const int reduction : {8, 4, 2}) {
    if (step < least_reduced * reduction) continue;
    // The last reduced pixel of a row may reach beyond the picture; mirrored, it would be the first
    // one and move all others.
    const bool whole = jpeg.width % reduction == 0 && jpeg.height % reduction == 0;
    if (jpeg.exif_orientation <= 1 || whole) return reduction;
  }
  return 1;
}

std::vector<std::unique_ptr<DecodeRoute>> CpuRoutes(const CpuRouteOptions& options) {
  std::vector<std::unique_ptr<DecodeRoute>> routes;
  if (options.least_reduced > 0) routes.push_back(std::make_unique<ReducedRoute>(options));
  routes.push_back(std::make_unique<FullRoute>(options.places));
  return routes;
}

}  // namespace lattice
