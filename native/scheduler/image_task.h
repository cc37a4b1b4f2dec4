// The task of one image, and its result.
#ifndef LATTICE_SCHEDULER_IMAGE_TASK_H_
#define LATTICE_SCHEDULER_IMAGE_TASK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/boxes/detections.h"
#include "native/engine/engine.h"
#include "native/files/file_stamp.h"
#include "native/image/box_descriptor.h"
#include "native/image/decode.h"
#include "native/image/picture_look.h"
#include "native/image/picture_position.h"
#include "native/tiles/tile_grid.h"

namespace lattice {

// An encoded image that the caller brought. The caller keeps the memory as it is until the last
// owner is gone, which may be later than the task's answer.
using SentImage = std::shared_ptr<const std::span<const uint8_t>>;

struct ImageTask {
  uint64_t id = 0;                 // unique among live tasks
  std::shared_ptr<Engine> engine;  // null: answered with kUnknownModel
  std::string path;                // beneath the roots; unused where the task brings the image
  SentImage sent;                  // null: the file of `path`, or the `pixels`
  std::optional<Image> pixels;
  std::optional<TileSpec> tiles;  // how the picture is cut; nothing: it is not
  bool digest = false;            // whether the result says the SHA-256 of the file
  bool look = false;              // whether it has the look
  // Boxes above this score get a descriptor; nothing: none does.
  std::optional<float> descriptors_above;
  WorkClass work_class = WorkClass::kAsync;
  double priority = 0;     // higher first
  double deadline_ms = 0;  // from submission; 0 = none
  DetectionOptions options;

  // Whether more is made of the picture than boxes. The host then decodes it.
  bool needs_picture() const { return look || descriptors_above.has_value(); }
};

// So many boxes of an image get a descriptor at most, the best ones: jobs keep no more boxes.
inline constexpr size_t kMostDescriptors = 300;

// Milliseconds. `queue` is all waiting: for a decode thread and, decoded, for the network. With
// tiles the parts' waiting for the network is in `inference`.
struct StageTimes {
  double queue = 0;
  double decode = 0;
  double preprocess = 0;
  double inference = 0;
  double postprocess = 0;
};

// The file that an image was read from; `read_ns` as in FileContent.
struct TaskFile {
  FileStamp stamp;
  int64_t read_ns = 0;  // 0: none was read whole
  std::string sha256;   // of its bytes, hex; "" where the task did not ask for it
};

struct TaskResult {
  uint64_t id = 0;
  Status status;
  TaskFile file;  // also of an image that failed after it was read
  int width = 0;  // of the oriented source image; 0 until it was decoded
  int height = 0;
  StageTimes times;
  int batch = 0;  // images of its batch
  double total_ms = 0;
  TileGrid grid;                            // that ran
  std::shared_ptr<const PictureLook> look;  // null where the task did not ask for it
  std::optional<PicturePosition> position;
  Detections detections;
  std::vector<BoxDescriptor> descriptors;  // of the first boxes, in their order
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_IMAGE_TASK_H_
