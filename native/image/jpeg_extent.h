// How far the picture of a JPEG reaches in its file.
#ifndef LATTICE_IMAGE_JPEG_EXTENT_H_
#define LATTICE_IMAGE_JPEG_EXTENT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "native/base/status.h"

namespace lattice {

// Reaction of a decoder to a warning. kAccept is for data that FindJpegEnd has found whole.
enum class OnWarning { kRefuse, kAccept };

// Bytes up to the end of the last scan, where the end marker belongs, if the data hold every block
// of the picture. Else kInvalidImage, which says how much can be read. For files of which a decoder
// is in doubt: it takes a third of the time of decoding them, more for a progressive one. Decoders
// warn alike of damage for which they make blocks up and of faults that change no pixel: a missing
// end marker, some bytes too many in front of it. `bytes` has a header that passes CheckSize.
// Thread-safe.
Result<size_t> FindJpegEnd(std::span<const uint8_t> bytes);

}  // namespace lattice

#endif  // LATTICE_IMAGE_JPEG_EXTENT_H_
