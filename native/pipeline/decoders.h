// The decode routes of a machine, put together for its core.
#ifndef LATTICE_PIPELINE_DECODERS_H_
#define LATTICE_PIPELINE_DECODERS_H_

#include <memory>
#include <string>
#include <vector>

#include "native/decode_route/decode_router.h"

namespace lattice {

struct DecoderOptions {
  int cpu_places = 1;      // images that the cores decode at once
  double fast_decode = 0;  // as CpuRouteOptions::least_reduced
  bool gpus = false;       // the routes of every usable GPU too
  // Names of the routes that may be used, as RouteDescription has them; empty: all.
  std::vector<std::string> allowed;
};

struct Decoders {
  std::unique_ptr<DecodeRouter> router;
  std::vector<std::string> missing;  // why a GPU lacks a route, a sentence each
};

// kGpuUnavailable where none of the allowed routes is there. With `gpus` it may take some tenths of
// a second for each; else it touches no GPU.
Result<Decoders> OpenDecoders(const DecoderOptions& options);

// Has the costs begin with what sample JPEGs of three sizes take, made here in memory; none begins
// later than `most_ms` from now. Before the first image. Decoders keep memory for this thread
// afterwards.
void CalibrateDecoders(DecodeRouter& router, double most_ms);

}  // namespace lattice

#endif  // LATTICE_PIPELINE_DECODERS_H_
