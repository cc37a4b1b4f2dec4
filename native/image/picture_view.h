// A picture, or a part of one, in memory of someone else.
#ifndef LATTICE_IMAGE_PICTURE_VIEW_H_
#define LATTICE_IMAGE_PICTURE_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "native/image/decode.h"

namespace lattice {

// A part of a picture, in pixels of the picture as it is shown.
struct Rect {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

// The pixels must outlive it.
struct PictureView {
  PictureView(const Image& image)  // NOLINT(google-explicit-constructor): every image is a view
      : bytes(image.data.data()),
        size(image.data.size()),
        width(image.width),
        height(image.height),
        layout(image.layout),
        orientation(image.orientation),
        planes(StoredPlanes(image)),
        memory(image.data.get_allocator().resource()) {}

  // `rect` lies in the picture; of one in planes it is the whole.
  PictureView Part(const Rect& rect) const;

  const uint8_t* bytes;
  size_t size;  // readable from `bytes` on
  int width;    // as shown
  int height;
  PixelLayout layout;
  int orientation;
  PackedPlanes planes;                // of the stored picture
  std::pmr::memory_resource* memory;  // where its pixels come from
};

}  // namespace lattice

#endif  // LATTICE_IMAGE_PICTURE_VIEW_H_
