// One scan of a JPEG, block by block, without making pixels.
#ifndef LATTICE_IMAGE_JPEG_SCAN_H_
#define LATTICE_IMAGE_JPEG_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "native/image/jpeg_entropy.h"

namespace lattice {

struct JpegComponent {
  int id = 0;
  int across = 1;  // blocks in a unit of an interleaved scan
  int down = 1;
  int columns = 0;  // blocks in a scan of its own
  int rows = 0;
  int stride = 0;                // blocks from one row to the next in `filled`
  std::vector<uint64_t> filled;  // progressive: which coefficients of each block are not 0
  uint64_t complete = 0;         // coefficients, by their places in the file, that are all there
};

struct JpegFrame {
  int width = 0;
  int height = 0;
  bool progressive = false;
  int most_across = 1;
  int most_down = 1;
  std::vector<JpegComponent> components;
};

struct JpegScan {
  struct Part {
    JpegComponent* component;
    const HuffmanTable* dc;
    const HuffmanTable* ac;
  };
  std::vector<Part> parts;
  int first = 0;  // coefficients
  int last = 63;
  int high = 0;  // bits that earlier scans, and later ones, bring
  int low = 0;
  int restart_interval = 0;
};

// Reads the scan whose data start at `*at`, and moves that to the marker behind it. Returns what is
// wrong with the data, or nothing where they hold every block.
std::optional<std::string> ReadJpegScan(std::span<const uint8_t> bytes, size_t* at,
                                        const JpegFrame& frame, const JpegScan& scan);

}  // namespace lattice

#endif  // LATTICE_IMAGE_JPEG_SCAN_H_
