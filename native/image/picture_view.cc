#include "native/image/picture_view.h"

#include <cstring>
#include <utility>

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
  part.planes.bytes = 0;
  return part;
}

Image CopyOf(const PictureView& view, std::pmr::memory_resource* memory) {
  Image copy{view.width, view.height, ByteBuffer(memory), view.layout, view.orientation};
  const size_t whole = StoredPlanes(copy).bytes;
  if (view.planes.bytes == whole) {
    copy.data.assign(view.bytes, view.bytes + whole);
    return copy;
  }
  copy.data.resize(whole);
  const size_t row_bytes = size_t{3} * static_cast<size_t>(view.width);
  const auto pitch = static_cast<size_t>(view.planes.pitches[0]);
  for (size_t y = 0; y < static_cast<size_t>(view.height); ++y) {
    std::memcpy(copy.data.data() + y * row_bytes, view.bytes + y * pitch, row_bytes);
  }
  return copy;
}

}  // namespace lattice
