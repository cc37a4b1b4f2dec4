#include "native/image/picture_view.h"

namespace lattice {

PictureView PictureView::Part(const Rect& rect) const {
  const auto pitch = static_cast<size_t>(planes.pitches[0]);
  const size_t offset =
      static_cast<size_t>(rect.top) * pitch + size_t{3} * static_cast<size_t>(rect.left);
  PictureView part = *this;
  part.bytes += offset;
  part.size -= offset;
  part.width = rect.width;
  part.height = rect.height;
  return part;
}

}  // namespace lattice
