// Model files: what they say of themselves, and everything that rewrites them.
#include <algorithm>
#include <utility>

#include "native/gpu/onnx/float_type.h"
#include "native/gpu/tensorrt/gpu_network.h"
#include "native/layouts/known_layout.h"
#include "native/model/box_choice.h"
#include "native/model/detection_head.h"
#include "native/model/model_description.h"
#include "native/model/onnx_metadata.h"
#include "native/model/onnx_reader.h"
#include "native/model/weight_files.h"
#include "test/native/fuzz/fuzz.h"
#include "test/native/fuzz/model/message_mutator.h"
#include "test/native/gpu/onnx/random_graph.h"
#include "test/native/layouts/detr_writer.h"
#include "test/native/layouts/nanodet_writer.h"
#include "test/native/layouts/yolox_writer.h"
#include "test/native/model/head_writer.h"

namespace lattice {
namespace {

std::vector<Shape> ShapesOf(const std::vector<OnnxValueInfo>& values) {
  std::vector<Shape> shapes;
  for (const OnnxValueInfo& value : values) shapes.push_back(value.Shape());
  return shapes;
}

// The conversion of a file for a GPU can be read.
void CheckConversion(std::string file, ModelInfo info) {
  file = InKnownLayout(std::move(file), &info);
  const auto network = ReadOnnxModel(BytesOf(file));
  fuzz::Require(network.ok());
  if (!ResolveInput(ShapesOf(network->graph.inputs), info).ok()) return;
  const auto head = FindDetectionHead(*network, static_cast<int>(info.names.size()));
  (void)BatchHeldBy(*network, head);
  const auto converted = GpuNetwork(file, info, head);
  fuzz::Require(!converted.ok() || ReadOnnxModel(BytesOf(*converted)).ok());
}

void CheckDescription(ByteView bytes, const OnnxModel& model) {
  auto metadata = ReadOnnxMetadata(bytes);
  if (!metadata.ok()) return;
  auto info = DescribeMetadata(*std::move(metadata));
  if (!info.ok()) return;
  CheckConversion(std::string(TextOf(bytes)), *info);
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

// A model whose numbers were set to another float type can be read.
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
  const std::string two = "{0: 'car', 1: 'bus'}";
  switch (seed % 8) {
    case 0:
      return test::Yolox({}, {{"names", two}});
    case 1:
      return test::Nanodet({}, {{"names", two}});
    case 2:
    case 3: {
      std::string names;
      for (int i = 0; i < test::kDetrClasses; ++i) names += "'c" + std::to_string(i) + "',";
      return test::Detr({.of_corners = seed % 16 < 8, .deployed = seed % 8 == 3})
          .File({{"names", "[" + names + "]"}, {"imgsz", "[64, 96]"}});
    }
    case 4: {
      const test::HeadOptions small{.classes = 2, .bins = 1, .one_to_one = seed % 16 < 8};
      return test::HeadWriter(small).Model();
    }
    default:
      return test::RandomGraph(seed).Model() + Bytes(14, Bytes(1, "names") + Bytes(2, two)) +
             Bytes(14, Bytes(1, "imgsz") + Bytes(2, "[640, 640]"));
  }
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
