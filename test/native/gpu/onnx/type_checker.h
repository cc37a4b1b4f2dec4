// Checks a converted graph by rules written apart from the conversion's own.
#ifndef LATTICE_TEST_GPU_ONNX_TYPE_CHECKER_H_
#define LATTICE_TEST_GPU_ONNX_TYPE_CHECKER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "native/model/onnx_graph.h"

namespace lattice::test {

class TypeChecker {
 public:
  // `type` is that of the outputs.
  explicit TypeChecker(ElementType type) : type_(type) {}

  // Faults of the graph, a line each: inputs and outputs, order, names, types, Casts.
  std::string Complaints(const OnnxModel& model) {
    for (const OnnxTensor& tensor : model.graph.initializers) {
      Make(tensor.name, tensor.type);
      constants_.insert(tensor.name);
    }
    for (const OnnxValueInfo& input : model.graph.inputs) {
      Make(input.name, input.type);
      if (input.type != kFloat16) complaints_ += "input is not FLOAT16\n";
    }
    for (const OnnxValueInfo& output : model.graph.outputs) outputs_.insert(output.name);
    for (const OnnxNode& node : model.graph.nodes) CheckNode(node);
    for (const OnnxTensor& tensor : model.graph.initializers) {
      if (!read_.contains(tensor.name)) complaints_ += "unused initializer " + tensor.name + "\n";
    }
    for (const OnnxValueInfo& output : model.graph.outputs) {
      Expect(output.type == type_, "output is declared as another type");
      Expect(types_[output.name] == type_, "output " + output.name + " is of another type");
    }
    for (const OnnxValueInfo& info : model.graph.value_info) {
      Expect(types_.contains(info.name) && types_[info.name] == info.type,
             "wrong description of " + info.name);
    }
    return complaints_;
  }

 private:
  void Expect(bool right, const std::string& complaint) {
    if (!right) complaints_ += complaint + "\n";
  }

  void Make(const std::string& name, int32_t type) {
    Expect(types_.emplace(name, type).second, name + " is made twice");
  }

  int32_t In(const OnnxNode& node, size_t index) {
    return index < node.inputs.size() ? types_[node.inputs[index]] : 0;
  }

  void CheckNode(const OnnxNode& node) {
    Expect(node.name.empty() || node_names_.insert(node.name).second, "two nodes " + node.name);
    for (const std::string& input : node.inputs) {
      read_.insert(input);
      Expect(input.empty() || types_.contains(input), node.name + " reads " + input + " too early");
    }
    const std::set<std::string> integers = {"Shape", "Size", "ArgMax", "NonZero"};
    const std::set<std::string> comparisons = {"Equal", "Greater", "Less"};
    int32_t made = In(node, node.op == "Where" ? 1 : 0);
    if (node.op == "Cast") {
      made = static_cast<int32_t>(node.Integer("to", 0));
      CheckCast(node, made);
    } else if (node.op == "Constant" || node.op == "ConstantOfShape") {
      made = node.Find("value") == nullptr ? int32_t{kFloat}
                                           : ReadTensor(node.Find("value")->tensor)->type;
      if (node.op == "Constant") constants_.insert(node.outputs[0]);
    } else if (integers.contains(node.op)) {
      made = kInt64;
    } else if (node.op == "Resize") {
      Expect(In(node, 2) == kFloat || node.inputs[2].empty(), node.name + " has FP16 scales");
    } else {
      std::set<int32_t> floating;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (IsFloating(In(node, i))) floating.insert(In(node, i));
      }
      Expect(floating.size() <= 1, node.name + " (" + node.op + ") mixes types");
      if (comparisons.contains(node.op)) made = kBool;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Make(node.outputs[i], node.op == "TopK" && i == 1 ? int32_t{kInt64} : made);
    }
  }

  void CheckCast(const OnnxNode& node, int32_t made) {
    if (!IsFloating(made) || !IsFloating(In(node, 0))) return;
    Expect(!constants_.contains(node.inputs[0]), node.name + " casts a constant");
    Expect(made != In(node, 0) || outputs_.contains(node.outputs[0]),
           node.name + " casts to the same type");
    Expect(casts_.insert(node.inputs[0]).second, node.inputs[0] + " is cast twice");
  }

  const ElementType type_;
  std::map<std::string, int32_t> types_;
  std::set<std::string> outputs_;
  std::set<std::string> constants_;
  std::set<std::string> read_;
  std::set<std::string> node_names_;
  std::set<std::string> casts_;
  std::string complaints_;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_GPU_ONNX_TYPE_CHECKER_H_
