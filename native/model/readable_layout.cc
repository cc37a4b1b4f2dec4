#include "native/model/readable_layout.h"

#include "native/model/detr.h"
#include "native/model/onnx_reader.h"
#include "native/model/yolox.h"

namespace lattice {

std::string WithReadableLayout(std::string file, ModelInfo* info) {
  auto model = ReadOnnxModel(BytesOf(file));
  if (!model.ok()) return file;
  if (TurnYoloxIntoRows(*info, &*model)) return WriteOnnxModel(*model);
  if (!TurnDetrIntoFinal(*info, &*model)) return file;
  info->stretched = true;
  info->only_f32 = true;
  return WriteOnnxModel(*model);
}

}  // namespace lattice
