// Decodes JPEGs on a GPU, by its JPEG engines or by its kernels: batches, refusals, deadlines.
#ifndef LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_ROUTE_H_
#define LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_ROUTE_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "native/decode_route/decode_route.h"
#include "native/decode_route/nvjpeg/nvjpeg_device.h"
#include "native/decode_route/nvjpeg/plane_pool.h"

namespace lattice {

struct NvJpegRouteOptions {
  std::string name;
  std::string resource;
  int gpu = 0;
  int most_batch = 1;  // images that a lane decodes at once
  DecodeCost cost;
  double patience_ms = 3000;  // after that long without a batch's end the device counts as lost
};

// Takes baseline JPEGs of 8 bits in 4:2:0, turned or not, that keep the request's limits and are
// for an engine that reads GPU memory; refuses at once what the device does not support and what
// does not end as a JPEG ends. Places: lanes times most_batch.
//
// Each lane has a thread. A free lane takes what waits, up to most_batch, and never waits for more.
// A batch that fails is decoded again one by one, and who fails alone is refused: only a decoder of
// the host says that a file is damaged. Where the planes' memory is full, images are refused. A GPU
// that faults, or does not come back within the patience, is lost: everything in hand and waiting
// is answered so, from a thread that no GPU can hold up.
class NvJpegRoute final : public DecodeRoute {
 public:
  // At least one lane. What lies on a lost GPU is left there, with the threads that wait for it.
  NvJpegRoute(NvJpegRouteOptions options, std::shared_ptr<NvJpegDevice> device,
              std::vector<std::unique_ptr<NvJpegLane>> lanes, std::shared_ptr<PlanePool> pool);
  // Precondition: every image was answered.
  ~NvJpegRoute() override;
  NvJpegRoute(const NvJpegRoute&) = delete;
  NvJpegRoute& operator=(const NvJpegRoute&) = delete;

  const RouteDescription& description() const override { return description_; }
  bool Takes(const DecodeRequest& request) const override;
  void Start(const DecodeRequest& request, CallerThread& caller, OnRouteAnswer on_answer) override;

 private:
  struct State;

  const RouteDescription description_;
  const std::shared_ptr<NvJpegDevice> device_;
  const size_t most_plane_bytes_;
  std::shared_ptr<State> state_;  // shared with the lanes' threads
  std::vector<std::thread> threads_;
  std::thread watch_;
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_NVJPEG_NVJPEG_ROUTE_H_
