// Model files: what they say of themselves, and everything that rewrites them.
#include <algorithm>

#include "native/gpu/onnx/float_type.h"
#include "native/model/box_choice.h"
#include "native/model/model_description.h"
#include "native/model/onnx_metadata.h"
#include "native/model/onnx_reader.h"
#include "native/model/readable_layout.h"
#include "native/model/weight_files.h"
#include "test/native/fuzz/fuzz.h"
#include "test/native/fuzz/model/message_mutator.h"
#include "test/native/gpu/onnx/random_graph.h"

namespace lattice {
namespace {

std::vector<Shape> ShapesOf(const std::vector<OnnxValueInfo>& values) {
  std::vector<Shape> shapes;
  for (const OnnxValueInfo& value : values) shapes.push_back(value.Shape());
  return shapes;
}

void CheckDescription(ByteView bytes, const OnnxModel& model) {
  auto metadata = ReadOnnxMetadata(bytes);
  if (!metadata.ok()) return;
  auto info = DescribeMetadata(*std::move(metadata));
  if (!info.ok()) return;
  (void)WithReadableLayout(std::string(TextOf(bytes)), &*info);
  if (!ResolveInput(ShapesOf(model.graph.inputs), *info).ok()) return;
  (void)CheckOutput(ShapesOf(model.graph.outputs), std::max(info->fixed_batch, 1),
                    ChoosesBoxes(model.graph), *info)
      .ok();
}

// Written and read again it is the same network.
void CheckWriting(const OnnxModel& model) {
  const std::string written = WriteOnnxModel(model);
  const auto again = ReadOnnxModel(BytesOf(written));
  fuzz::Require(again.ok() && WriteOnnxModel(*again) == written);
  fuzz::Require(again->opset == model.opset);
  fuzz::Require(std::ranges::equal(
      again->graph.nodes, model.graph.nodes, [](const OnnxNode& a, const OnnxNode& b) {
        return a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs;
      }));
}

// What is converted can be read.
void CheckTypes(ByteView bytes) {
  for (const ElementType type : {kFloat16, kFloat}) {
    auto model = ReadOnnxModel(bytes);
    if (!SetFloatType(*model, type).ok()) continue;
    const std::string written = WriteOnnxModel(*model);
    fuzz::Require(ReadOnnxModel(BytesOf(written)).ok());
  }
}

std::string FreshModel(unsigned seed) {
  using test::Bytes;
  return test::RandomGraph(seed).Model() +
         Bytes(14, Bytes(1, "names") + Bytes(2, "{0: 'car', 1: 'bus'}")) +
         Bytes(14, Bytes(1, "imgsz") + Bytes(2, "[640, 640]"));
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const lattice::ByteView bytes(data, size);
  // Its weights may only be missing: no file lies in such a folder.
  (void)lattice::WithWeightsInside(std::string(lattice::TextOf(bytes)), "/nonexistent", 1 << 20);
  const auto model = lattice::ReadOnnxModel(bytes);
  if (!model.ok()) return 0;
  lattice::CheckDescription(bytes, *model);
  lattice::CheckWriting(*model);
  lattice::CheckTypes(bytes);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace lattice;
  std::minstd_rand random(seed);
  const bool fresh = size < 8 || random() % 256 == 0;
  return fuzz::Replace(
      fresh ? FreshModel(seed) : fuzz::MutatedMessage(TextOf({data, size}), random), data,
      max_size);
}
