// The routes that every machine has: its cores, each image on the thread that brought it.
#ifndef LATTICE_DECODE_ROUTE_CPU_ROUTES_H_
#define LATTICE_DECODE_ROUTE_CPU_ROUTES_H_

#include <memory>
#include <vector>

#include "native/decode_route/decode_route.h"

namespace lattice {

struct CpuRouteOptions {
  int places = 1;  // images that the cores decode at once
  // Least pixels of a reduced image for each pixel of the network's input, along one side; 0 never
  // reduces.
  double least_reduced = 0;
};

// The most that a JPEG may be reduced by (8, 4, 2), for at least `least_reduced` of its pixels a
// pixel of the letterboxed picture along a side; 1 where that, the format or the file forbids it.
int ReductionFor(const DecodeRequest& request, double least_reduced);

// The whole image, every format: Decode's pixels and codes. Before it in preference, where the
// options allow it, JPEG at a reduced scale.
std::vector<std::unique_ptr<DecodeRoute>> CpuRoutes(const CpuRouteOptions& options);

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_CPU_ROUTES_H_
