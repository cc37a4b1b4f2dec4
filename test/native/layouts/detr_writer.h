// A small network that ends as RT-DETR, RT-DETRv2 or D-FINE do.
#ifndef LATTICE_TEST_LAYOUTS_DETR_WRITER_H_
#define LATTICE_TEST_LAYOUTS_DETR_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "test/native/model/graph_writer.h"

namespace lattice::test {

inline constexpr int kDetrWidth = 96;
inline constexpr int kDetrHeight = 64;
inline constexpr int kDetrQueries = 48;
inline constexpr int kDetrClasses = 20;
inline constexpr int kDetrChannels = 8;

struct DetrForm {
  bool of_corners = false;  // as D-FINE makes its boxes
  bool deployed = false;
  bool sides_open = false;
  bool batch_open = false;
  int first_kernel = 3;
  std::string before_first = {};  // an operator
  std::string after_logits = {};
  std::string box_op = "Sigmoid";
  bool third_output = false;
  uint64_t opset = 17;
};

// Writes the ends of these networks behind a small backbone, whose cells are the queries.
class Detr {
 public:
  explicit Detr(const DetrForm& form) : form_(form) {}

  std::string File(const std::map<std::string, std::string>& metadata = {}) {
    AddQueries();
    AddLogits();
    AddBoxes();
    const int64_t height = form_.sides_open ? -1 : kDetrHeight;
    const int64_t width = form_.sides_open ? -1 : kDetrWidth;
    const int64_t batch = form_.batch_open ? -1 : 1;
    const std::string picture = TensorPort("images", kFloat, {batch, 3, height, width});
    if (form_.deployed) {
      AddChoice();
      graph_.Input(TensorPort("sizes", kInt64, {batch, 2}));
      graph_.Output(TensorPort("boxes", kFloat, {-1, -1, -1}));
      graph_.Output(TensorPort("scores", kFloat, {-1, -1}));
      return graph_.Model(picture, TensorPort("labels", kInt64, {-1, -1}), metadata, form_.opset);
    }
    graph_.Output(TensorPort("pred_boxes", kFloat, {batch, kDetrQueries, -1}));
    if (form_.third_output) graph_.Output(TensorPort("queries", kFloat, {-1, -1, -1}));
    return graph_.Model(picture, TensorPort("logits", kFloat, {batch, kDetrQueries, kDetrClasses}),
                        metadata, form_.opset);
  }

 private:
  void AddQueries() {
    std::string pixels = "images";
    if (!form_.before_first.empty()) {
      graph_.Initializer(Floats("mean", {1, 3, 1, 1}, {0.4f, 0.5f, 0.6f}));
      graph_.Node(form_.before_first, {pixels, "mean"}, {"normalised"});
      pixels = "normalised";
    }
    const int kernel = form_.first_kernel;
    const int pad = kernel / 2;
    graph_.Initializer(Floats("first.w", {kDetrChannels, 3, kernel, kernel},
                              Noise(kDetrChannels * 3 * kernel * kernel, 1, 1)));
    graph_.Node("Conv", {pixels, "first.w"}, {"first"},
                Integers("strides", {2, 2}) + Integers("pads", {pad, pad, pad, pad}));
    graph_.Node("AveragePool", {"first"}, {"cells"},
                Integers("kernel_shape", {4, 8}) + Integers("strides", {4, 8}));
    graph_.Initializer(
        RawTensor<int64_t>("flat", kInt64, {3}, {form_.batch_open ? 0 : 1, kDetrChannels, -1}));
    graph_.Node("Reshape", {"cells", "flat"}, {"columns"});
    graph_.Node("Transpose", {"columns"}, {"queries"}, Integers("perm", {0, 2, 1}));
  }

  // A linear layer of the queries.
  std::string Linear(const std::string& name, int columns, float reach, unsigned seed) {
    graph_.Initializer(
        Floats(name + ".w", {kDetrChannels, columns}, Noise(kDetrChannels * columns, reach, seed)));
    graph_.Initializer(Floats(name + ".b", {columns}, Noise(columns, 1, seed + 100)));
    graph_.Node("MatMul", {"queries", name + ".w"}, {name + ".product"});
    graph_.Node("Add", {name + ".product", name + ".b"}, {name});
    return name;
  }

  // Writes an output of two layers, of which the last one counts.
  void LastOf(const std::string& first, const std::string& last, const std::string& output) {
    graph_.Initializer(RawTensor<int64_t>(output + ".axis", kInt64, {1}, {1}));
    graph_.Initializer(RawTensor<int64_t>(output + ".last", kInt64, {}, {-1}));
    graph_.Node("Unsqueeze", {first, output + ".axis"}, {output + ".first"});
    graph_.Node("Unsqueeze", {last, output + ".axis"}, {output + ".second"});
    graph_.Node("Concat", {output + ".first", output + ".second"}, {output + ".all"},
                Integer("axis", 1));
    graph_.Node("Gather", {output + ".all", output + ".last"}, {output}, Integer("axis", 1));
  }

  void AddLogits() {
    const std::string first = Linear("logits0", kDetrClasses, 0.7f, 2);
    std::string last = Linear("logits1", kDetrClasses, 0.7f, 3);
    if (form_.of_corners) {
      graph_.Node("Add", {last, Linear("quality", 1, 0.3f, 4)}, {"logits2"});
      last = "logits2";
    }
    if (!form_.after_logits.empty()) {
      graph_.Node(form_.after_logits, {last}, {"changed"});
      last = "changed";
    }
    LastOf(first, last, "logits");
  }

  void AddBoxes() {
    graph_.Node(form_.box_op, {Linear("box0", 4, 2, 5)}, {"shares0"});
    graph_.Node(form_.box_op, {Linear("box1", 4, 2, 6)}, {"shares1"});
    LastOf("shares0", form_.of_corners ? MadeOfCorners("shares1") : "shares1", "pred_boxes");
  }

  // Centre and size, of a corner and what lies between it and the other one.
  std::string MadeOfCorners(const std::string& numbers) {
    graph_.Initializer(RawTensor<int64_t>("column", kInt64, {1}, {2}));
    graph_.Initializer(Floats("two", {}, {2}));
    graph_.Node("Split", {numbers}, {"x1.c", "y1.c", "across.c", "down.c"}, Integer("axis", 2));
    for (const std::string number : {"x1", "y1", "across", "down"}) {
      graph_.Node("Squeeze", {number + ".c", "column"}, {number});
    }
    graph_.Node("Add", {"x1", "across"}, {"x2"});
    graph_.Node("Add", {"y1", "down"}, {"y2"});
    for (const std::string axis : {"x", "y"}) {
      graph_.Node("Add", {axis + "1", axis + "2"}, {axis + ".sum"});
      graph_.Node("Div", {axis + ".sum", "two"}, {axis + ".centre"});
      graph_.Node("Sub", {axis + "2", axis + "1"}, {axis + ".size"});
    }
    std::vector<std::string> columns;
    for (const std::string number : {"x.centre", "y.centre", "x.size", "y.size"}) {
      columns.push_back(number + ".c");
      graph_.Node("Unsqueeze", {number, "column"}, {columns.back()});
    }
    graph_.Node("Concat", columns, {"made"}, Integer("axis", -1));
    return "made";
  }

  // As the networks' own postprocessing.
  void AddChoice() {
    graph_.Initializer(RawTensor<int64_t>("most", kInt64, {1}, {kDetrQueries}));
    graph_.Initializer(RawTensor<int64_t>("classes", kInt64, {}, {kDetrClasses}));
    graph_.Initializer(RawTensor<int64_t>("axis1", kInt64, {1}, {1}));
    graph_.Initializer(RawTensor<int64_t>("axis2", kInt64, {1}, {2}));
    graph_.Node("Sigmoid", {"logits"}, {"all_scores"});
    graph_.Node("Flatten", {"all_scores"}, {"pairs"}, Integer("axis", 1));
    graph_.Node("TopK", {"pairs", "most"}, {"scores", "places"}, Integer("axis", -1));
    graph_.Node("Div", {"places", "classes"}, {"query"});
    graph_.Node("Mul", {"query", "classes"}, {"before"});
    graph_.Node("Sub", {"places", "before"}, {"labels"});
    graph_.Initializer(
        Floats("corners_of", {4, 4}, {1, 0, 1, 0, 0, 1, 0, 1, -.5f, 0, .5f, 0, 0, -.5f, 0, .5f}));
    graph_.Node("MatMul", {"pred_boxes", "corners_of"}, {"corners"});
    graph_.Node("Concat", {"sizes", "sizes"}, {"sides"}, Integer("axis", 1));
    graph_.Node("Unsqueeze", {"sides", "axis1"}, {"wide_sides"});
    graph_.Node("Cast", {"wide_sides"}, {"real_sides"}, Integer("to", kFloat));
    graph_.Node("Mul", {"corners", "real_sides"}, {"pixels"});
    graph_.Node("Unsqueeze", {"query", "axis2"}, {"row"});
    graph_.Node("Concat", {"row", "row", "row", "row"}, {"rows"}, Integer("axis", 2));
    graph_.Node("GatherElements", {"pixels", "rows"}, {"boxes"}, Integer("axis", 1));
  }

  const DetrForm form_;
  GraphWriter graph_;
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_LAYOUTS_DETR_WRITER_H_
