#include "native/pipeline/decoders.h"

#include <algorithm>
#include <array>
#include <utility>

#include "native/decode_route/cpu_routes.h"
#include "native/decode_route/nvjpeg/gpu_routes.h"
#include "native/image/sample_jpeg.h"

namespace lattice {
namespace {

using Routes = std::vector<std::unique_ptr<DecodeRoute>>;

// Of the two, one must be far enough from the other to tell pixels from the fixed part.
constexpr std::array<std::array<int, 2>, 3> kSampleSides = {
    {{640, 480}, {1280, 720}, {1920, 1080}}};

void KeepAllowed(const std::vector<std::string>& allowed, Routes* routes) {
  if (allowed.empty()) return;
  std::erase_if(*routes, [&](const std::unique_ptr<DecodeRoute>& route) {
    return std::find(allowed.begin(), allowed.end(), route->description().name) == allowed.end();
  });
}

Status NoneOf(const std::vector<std::string>& allowed, const std::vector<std::string>& missing) {
  std::string sentence = "None of the decode routes asked for is here (";
  for (size_t i = 0; i < allowed.size(); ++i) sentence += (i > 0 ? ", " : "") + allowed[i];
  sentence += ").";
  for (const std::string& reason : missing) sentence += " " + reason;
  return {StatusCode::kGpuUnavailable, sentence};
}

}  // namespace

Result<Decoders> OpenDecoders(const DecoderOptions& options) {
  Routes routes = CpuRoutes({options.cpu_places, options.fast_decode});
  Decoders decoders;
  if (options.gpus) {
    GpuRoutes on_gpus =
        OpenGpuRoutes(options.allowed, static_cast<size_t>(kMostRoutes) - routes.size());
    for (auto& route : on_gpus.routes) routes.push_back(std::move(route));
    decoders.missing = std::move(on_gpus.missing);
  }
  KeepAllowed(options.allowed, &routes);
  if (routes.empty()) return NoneOf(options.allowed, decoders.missing);
  decoders.router = std::make_unique<DecodeRouter>(std::move(routes));
  return decoders;
}

void CalibrateDecoders(DecodeRouter& router, double most_ms) {
  std::vector<std::vector<uint8_t>> files;
  for (const auto& [width, height] : kSampleSides) {
    auto file = MakeSampleJpeg(width, height);
    if (file.ok()) files.push_back(*std::move(file));
  }
  std::vector<DecodeRequest> pictures;
  for (const std::vector<uint8_t>& file : files) {
    DecodeRequest picture;
    picture.encoded = DescribeEncoded(file);
    picture.gpu_images = true;
    pictures.push_back(picture);
  }
  router.Calibrate(pictures, most_ms);
}

}  // namespace lattice
