// What a scheduler is given, and what it counts.
#ifndef LATTICE_SCHEDULER_SCHEDULER_OPTIONS_H_
#define LATTICE_SCHEDULER_SCHEDULER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/engine/engine.h"

namespace lattice {

struct SchedulerOptions {
  int decode_threads = 1;  // for sync tasks, and as many again for async ones
  LaneOptions sync;        // as the engines' own, of all devices together
  LaneOptions async;
  int async_nice = 0;  // added to the niceness of async decode threads
  // CPUs of each decode thread of a lane, as DecodeCpus; empty: the system's choice.
  std::vector<std::vector<int>> decode_cpus = {};
  int devices = 1;      // of every engine; each has an equal share of the lanes
  int async_batch = 1;  // images of an async slice that is to be full
  // Bytes of pixels that async images may hold, from the start of their decoding to their slice's
  // end; as LookAhead.
  size_t look_ahead_bytes = size_t{1} << 30;
  // Bytes of files that async images may hold until their decoding starts; as LookAhead.
  size_t read_ahead_bytes = size_t{1} << 28;

  // Async images that are decoded or being decoded ahead of the network: the next slices, and one
  // image a slice and a thread to spare.
  int LookAhead() const { return async.parallel * (async_batch + 1) + decode_threads; }
  // Async images whose files are read or being read ahead of decoding. A photo takes a core some
  // milliseconds to decode, and a volume that is far away some tens to give.
  int ReadAhead() const { return 8 * decode_threads; }
};

struct SchedulerStats {
  size_t queued_sync = 0;  // not yet decoding, their files read or not
  size_t queued_async = 0;
  size_t decoding = 0;
  size_t inferring = 0;
  size_t held_bytes = 0;       // of pixels that async images hold
  size_t held_file_bytes = 0;  // of files that wait to be decoded for them
  uint64_t completed = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_SCHEDULER_OPTIONS_H_
