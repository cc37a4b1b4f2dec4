#include "native/engine/openvino/openvino_tensors.h"

#include <exception>
#include <memory>
#include <openvino/op/constant.hpp>
#include <openvino/openvino.hpp>
#include <openvino/pass/constant_folding.hpp>
#include <openvino/pass/manager.hpp>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "native/engine/openvino/openvino_core.h"

namespace lattice {
namespace {

int32_t OnnxType(const ov::element::Type& type) {
  switch (type) {
    case ov::element::Type_t::f32:
      return kFloat;
    case ov::element::Type_t::f16:
      return kFloat16;
    case ov::element::Type_t::i32:
      return kInt32;
    case ov::element::Type_t::i64:
      return kInt64;
    case ov::element::Type_t::boolean:
      return kBool;
    default:
      return kNoType;
  }
}

std::string_view RawBytes(const ov::op::v0::Constant& constant) {
  return {static_cast<const char*>(constant.get_data_ptr()), constant.get_byte_size()};
}

// Tensors have their ONNX names.
void AddShapes(const ov::Model& model, KnownTensors* known) {
  for (const auto& node : model.get_ops()) {
    for (const ov::Output<ov::Node>& output : node->outputs()) {
      if (output.get_partial_shape().is_dynamic()) continue;
      const ov::Shape& shape = output.get_shape();
      for (const std::string& name : output.get_names()) {
        known->shapes[name].assign(shape.begin(), shape.end());
      }
    }
  }
}

using Constants = std::vector<std::shared_ptr<ov::op::v0::Constant>>;

Constants ConstantsOf(const ov::Model& model) {
  Constants constants;
  for (const auto& node : model.get_ops()) {
    auto constant = std::dynamic_pointer_cast<ov::op::v0::Constant>(node);
    if (constant) constants.push_back(std::move(constant));
  }
  return constants;
}

std::unordered_set<std::string> NamesOf(const Constants& constants) {
  std::unordered_set<std::string> names;
  for (const auto& constant : constants) {
    const auto& own = constant->output(0).get_names();
    names.insert(own.begin(), own.end());
  }
  return names;
}

// Adds constants by their names that are not in `old`.
void AddValues(const Constants& constants, const std::unordered_set<std::string>& old,
               KnownTensors* known) {
  for (const auto& constant : constants) {
    const int32_t type = OnnxType(constant->get_element_type());
    if (type == kNoType) continue;
    const ov::Shape& shape = constant->get_shape();
    for (const std::string& name : constant->output(0).get_names()) {
      if (old.contains(name)) continue;
      known->values[name] =
          MakeTensor(name, type, {shape.begin(), shape.end()}, RawBytes(*constant));
    }
  }
}

KnownTensors InferFor(ov::Model& model, const Shape& input) {
  model.reshape(ov::PartialShape(std::vector<ov::Dimension>(input.begin(), input.end())));
  KnownTensors known;
  AddShapes(model, &known);
  const auto weights = NamesOf(ConstantsOf(model));
  ov::pass::Manager passes;
  passes.register_pass<ov::pass::ConstantFolding>();
  passes.run_passes(model.shared_from_this());
  AddValues(ConstantsOf(model), weights, &known);
  return known;
}

// -1 for each side in which the shapes differ; nothing if their ranks differ.
std::optional<std::vector<int64_t>> Intersect(const std::vector<int64_t>& one,
                                              const std::vector<int64_t>& other) {
  if (one.size() != other.size()) return std::nullopt;
  std::vector<int64_t> sides = one;
  for (size_t i = 0; i < sides.size(); ++i) {
    if (sides[i] != other[i]) sides[i] = -1;
  }
  return sides;
}

// The values and shapes that are the same in both.
KnownTensors Intersect(const KnownTensors& one, const KnownTensors& other) {
  KnownTensors both;
  for (const auto& [name, value] : one.values) {
    const auto same = other.values.find(name);
    if (same == other.values.end()) continue;
    if (same->second.message.text() == value.message.text()) both.values.emplace(name, value);
  }
  for (const auto& [name, shape] : one.shapes) {
    const auto same = other.shapes.find(name);
    if (same == other.shapes.end()) continue;
    if (auto sides = Intersect(shape, same->second)) both.shapes.emplace(name, *std::move(sides));
  }
  return both;
}

}  // namespace

std::optional<KnownTensors> InferTensors(const std::string& onnx,
                                         const std::vector<Shape>& inputs) {
  try {
    const auto model = SharedCore().read_model(onnx, ov::Tensor());
    std::optional<KnownTensors> known;
    for (const Shape& input : inputs) {
      KnownTensors one = InferFor(*model->clone(), input);
      known = known ? Intersect(*known, one) : std::move(one);
    }
    return known;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace lattice
