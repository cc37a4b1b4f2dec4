// The options of a scheduler, and what it counts.
#ifndef LATTICE_SCHEDULER_SCHEDULER_OPTIONS_H_
#define LATTICE_SCHEDULER_SCHEDULER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "native/engine/engine.h"

namespace lattice {

struct SchedulerOptions {
  int decode_threads = 1;  // for sync tasks, and as many again for async ones
  ClassOptions sync;       // as the engines' own
  ClassOptions async;
  int async_nice = 0;  // added to the niceness of async decode threads
  int sync_batch = 1;  // images of a full batch
  int async_batch = 1;
  // Bytes of pixels that the images of each class may hold, from the start of their decoding to the
  // end of their batch; as LookAhead.
  size_t sync_pixel_bytes = size_t{1} << 29;
  size_t async_pixel_bytes = size_t{1} << 30;
  // Bytes of files that async images may hold until their decoding starts; as LookAhead.
  size_t async_file_bytes = size_t{1} << 28;
  DecodeLimits limits = {};
  // Test only: a decode thread calls abort() for a path that ends so. Empty in every service.
  std::string abort_on_path_suffix = {};

  // Images that are decoded or being decoded ahead of the network: the next batches, and one image
  // per batch and per thread to spare.
  int SyncAhead() const { return sync.slots * (sync_batch + 1) + decode_threads; }
  int AsyncAhead() const { return async.slots * (async_batch + 1) + decode_threads; }
  // Async images whose files are read or being read ahead of decoding. A photo takes a core some
  // milliseconds to decode, and a remote volume some tens of milliseconds to deliver.
  int ReadAhead() const { return 8 * decode_threads; }
};

struct SchedulerStats {
  size_t queued_sync = 0;  // not yet decoding, their files read or not
  size_t queued_async = 0;
  size_t decoding = 0;
  size_t inferring = 0;
  size_t held_bytes = 0;       // of pixels that async images hold
  size_t held_file_bytes = 0;  // of files that async images hold
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  // Images by who decoded them.
  uint64_t decoded_by_cpu = 0;
  uint64_t decoded_by_hardware = 0;
  uint64_t decode_retries = 0;  // of decoded_by_cpu: the hardware had tried and failed
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_SCHEDULER_OPTIONS_H_
