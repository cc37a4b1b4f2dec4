#include "native/layouts/known_layout.h"

#include <utility>

#include "native/layouts/detr.h"
#include "native/layouts/nanodet.h"
#include "native/layouts/yolox.h"
#include "native/model/model_description.h"
#include "native/model/model_file.h"
#include "native/model/onnx_metadata.h"
#include "native/model/onnx_reader.h"

namespace lattice {

std::string InKnownLayout(std::string file, ModelInfo* info) {
  auto model = ReadOnnxModel(BytesOf(file));
  if (!model.ok()) return file;
  if (TurnYoloxIntoRows(*info, &*model)) return WriteOnnxModel(*model);
  const bool nanodet = TurnNanodetIntoRows(*info, &*model);
  const bool detr = !nanodet && TurnDetrIntoFinal(*info, &*model);
  if (!nanodet && !detr) return file;
  std::string known = WriteOnnxModel(*model);
  info->stretched = true;
  AppendMetadata(known, kStretchedKey, kSet);
  info->only_f32 = detr;
  if (detr) AppendMetadata(known, kOnlyF32Key, kSet);
  return known;
}

Result<std::string> ReadInKnownLayout(const std::string& path) {
  auto model = ReadDescribedModel(path);
  if (!model.ok()) return model.status();
  return InKnownLayout(std::move(model->bytes), &model->info);
}

}  // namespace lattice
