#include "native/model/readable_layout.h"

#include "native/model/detr.h"
#include "native/model/nanodet.h"
#include "native/model/onnx_reader.h"
#include "native/model/yolox.h"

namespace lattice {

std::string WithReadableLayout(std::string file, ModelInfo* info) {
  auto model = ReadOnnxModel(BytesOf(file));
  if (!model.ok()) return file;
  if (TurnYoloxIntoRows(*info, &*model)) return WriteOnnxModel(*model);
  const bool nanodet = TurnNanodetIntoRows(*info, &*model);
  const bool detr = !nanodet && TurnDetrIntoFinal(*info, &*model);
  if (!nanodet && !detr) return file;
  info->stretched = true;
  info->only_f32 = detr;
  return WriteOnnxModel(*model);
}

}  // namespace lattice
