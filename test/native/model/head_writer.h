// Writes small detectors with the ends that exports of the v8 family have. The layers before the
// head are as few as can be.
#ifndef LATTICE_TEST_MODEL_HEAD_WRITER_H_
#define LATTICE_TEST_MODEL_HEAD_WRITER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "test/native/model/graph_writer.h"

namespace lattice::test {

struct HeadOptions {
  int classes = 3;
  int bins = 16;
  int width = 160;
  int height = 160;
  int batch = 1;  // 0: open
  // Boxes of all scales are joined, and classes of all scales, as newer exports do; else both of
  // each scale first.
  bool joins_kinds = false;
  bool one_to_one = false;  // the best 300 pairs of anchor and class as rows of 6
  // The numbers of the last convolutions are quantised and dequantised.
  bool quantised = false;
  bool is_signed = false;  // to INT8 instead of UINT8
  uint64_t opset = 17;
  // Ends that only look alike: a softmax over the classes instead of sigmoids, distances that are
  // cut off at 0 (with one bin), only the best class of each anchor (with one_to_one).
  bool other_scores = false;
  bool positive_distances = false;
  bool one_class_per_box = false;
  // The image is read rounded to its 255 levels.
  bool rounds_image = false;
  // The output also depends on the image itself, although this changes no number.
  bool reads_image = false;
};

inline std::vector<HeadOptions> EveryLayout(std::initializer_list<int> classes) {
  std::vector<HeadOptions> layouts;
  for (const int count : classes) {
    for (const int bins : {1, 16}) {
      for (const bool joins_kinds : {false, true}) {
        for (const bool one_to_one : {false, true}) {
          HeadOptions& options = layouts.emplace_back();
          options.classes = count;
          options.bins = bins;
          options.joins_kinds = joins_kinds;
          options.one_to_one = one_to_one;
        }
      }
    }
  }
  return layouts;
}

// The tensors of the head are named box8, class8, box16, ..., or box8.read, ... if quantised.
class HeadWriter {
 public:
  explicit HeadWriter(const HeadOptions& options) : options_(options) {}

  std::string Model() {
    const std::string output = options_.reads_image ? "plain" : "output0";
    WriteBackbone();
    if (options_.joins_kinds) {
      JoinKinds();
    } else {
      JoinPairs();
    }
    WriteBoxes();
    graph_.Node(options_.other_scores ? "Softmax" : "Sigmoid", {"logits"}, {"scores"},
                options_.other_scores ? Integer("axis", 1) : "");
    graph_.Node("Concat", {"boxes", "scores"}, {options_.one_to_one ? "rows" : output},
                Integer("axis", 1));
    if (options_.one_to_one) WriteBestPairs(output);
    if (options_.reads_image) {
      graph_.Initializer(Floats("nothing", {}, {0}));
      graph_.Node("ReduceMax", {"images"}, {"brightest"}, Integer("keepdims", 0));
      graph_.Node("Mul", {"brightest", "nothing"}, {"no_change"});
      graph_.Node("Add", {"plain", "no_change"}, {"output0"});
    }
    std::string names = "{";
    for (int c = 0; c < options_.classes; ++c) {
      names += (c > 0 ? ", " : "") + std::to_string(c) + ": 'c" + std::to_string(c) + "'";
    }
    const int batch = options_.batch == 0 ? -1 : options_.batch;
    return graph_.Model(
        TensorPort("images", kFloat, {batch, 3, options_.height, options_.width}),
        TensorPort("output0", kFloat,
                   options_.one_to_one
                       ? std::vector<int64_t>{batch, 300, 6}
                       : std::vector<int64_t>{batch, 4 + options_.classes, Anchors()}),
        {{"names", names + "}"}, {"task", "detect"}, {"stride", "32"}}, options_.opset);
  }

  int Anchors() const {
    int anchors = 0;
    for (const int cell : kCells) anchors += Columns(cell) * Rows(cell);
    return anchors;
  }

 private:
  static constexpr int kCells[] = {8, 16, 32};

  int Columns(int cell) const { return options_.width / cell; }
  int Rows(int cell) const { return options_.height / cell; }

  std::vector<float> Noise(size_t count, float reach) {
    std::vector<float> values(count);
    for (float& value : values) {
      value = std::uniform_real_distribution<float>(-reach, reach)(random_);
    }
    return values;
  }

  void Shape(const std::string& name, const std::vector<int64_t>& sides) {
    graph_.Initializer(RawTensor(name, kInt64, {static_cast<int64_t>(sides.size())}, sides));
  }

  void Convolution(const std::string& from, const std::string& to, int inputs, int outputs,
                   float reach) {
    graph_.Initializer(Floats(to + ".w", {outputs, inputs, 1, 1},
                              Noise(static_cast<size_t>(inputs * outputs), reach)));
    graph_.Initializer(Floats(to + ".b", {outputs}, Noise(static_cast<size_t>(outputs), 1)));
    graph_.Node("Conv", {from, to + ".w", to + ".b"}, {to});
  }

  // The numbers of a last convolution; returns the tensor that the head ends in.
  std::string Read(const std::string& tensor) {
    if (!options_.quantised) return tensor;
    graph_.Initializer(Floats(tensor + ".scale", {}, {0.05f}));
    graph_.Initializer(options_.is_signed
                           ? RawTensor<int8_t>(tensor + ".zero", kInt8, {}, {0})
                           : RawTensor<uint8_t>(tensor + ".zero", kUint8, {}, {128}));
    graph_.Node("QuantizeLinear", {tensor, tensor + ".scale", tensor + ".zero"}, {tensor + ".q"});
    graph_.Node("DequantizeLinear", {tensor + ".q", tensor + ".scale", tensor + ".zero"},
                {tensor + ".read"});
    return tensor + ".read";
  }

  // The tensor that holds the image.
  std::string ReadImage() {
    if (!options_.rounds_image) return "images";
    graph_.Initializer(Floats("images.scale", {}, {1.0f / 255.0f}));
    graph_.Initializer(RawTensor<uint8_t>("images.zero", kUint8, {}, {0}));
    graph_.Node("QuantizeLinear", {"images", "images.scale", "images.zero"}, {"images.q"});
    graph_.Node("DequantizeLinear", {"images.q", "images.scale", "images.zero"}, {"images.read"});
    return "images.read";
  }

  void WriteBackbone() {
    const std::string image = ReadImage();
    for (const int cell : kCells) {
      const std::string size = std::to_string(cell);
      graph_.Node("AveragePool", {image}, {"cells" + size},
                  Integers("kernel_shape", {cell, cell}) + Integers("strides", {cell, cell}));
      Convolution("cells" + size, "features" + size, 3, 24, 6);
      Convolution("features" + size, "box" + size, 24, 4 * options_.bins, 1);
      Convolution("features" + size, "class" + size, 24, options_.classes, 1);
    }
  }

  void JoinPairs() {
    Shape("flat", {options_.batch, 4 * options_.bins + options_.classes, -1});
    std::vector<std::string> scales;
    for (const int cell : kCells) {
      const std::string size = std::to_string(cell);
      graph_.Node("Concat", {Read("box" + size), Read("class" + size)}, {"pair" + size},
                  Integer("axis", 1));
      graph_.Node("Reshape", {"pair" + size, "flat"}, {"flat" + size});
      scales.push_back("flat" + size);
    }
    graph_.Node("Concat", scales, {"all"}, Integer("axis", 2));
    Shape("parts", {4 * options_.bins, options_.classes});
    graph_.Node("Split", {"all", "parts"}, {"sides", "logits"}, Integer("axis", 1));
  }

  void JoinKinds() {
    const auto join = [&](const std::string& kind, int channels, const std::string& to) {
      Shape(kind + ".flat", {options_.batch, channels, -1});
      std::vector<std::string> scales;
      for (const int cell : kCells) {
        const std::string tensor = kind + std::to_string(cell);
        graph_.Node("Reshape", {Read(tensor), kind + ".flat"}, {tensor + ".flat"});
        scales.push_back(tensor + ".flat");
      }
      graph_.Node("Concat", scales, {to}, Integer("axis", 2));
    };
    join("box", 4 * options_.bins, "sides");
    join("class", options_.classes, "logits");
  }

  std::string Distances() {
    if (options_.bins == 1) {
      if (!options_.positive_distances) return "sides";
      graph_.Node("Relu", {"sides"}, {"positive"});
      return "positive";
    }
    Shape("by_side", {options_.batch, 4, options_.bins, Anchors()});
    Shape("by_anchor", {options_.batch, 4, Anchors()});
    std::vector<float> bins(static_cast<size_t>(options_.bins));
    for (size_t i = 0; i < bins.size(); ++i) bins[i] = static_cast<float>(i);
    graph_.Initializer(Floats("bins", {1, options_.bins, 1, 1}, bins));
    graph_.Node("Reshape", {"sides", "by_side"}, {"sides.bins"});
    graph_.Node("Transpose", {"sides.bins"}, {"bins.sides"}, Integers("perm", {0, 2, 1, 3}));
    graph_.Node("Softmax", {"bins.sides"}, {"weights"}, Integer("axis", 1));
    graph_.Node("Conv", {"weights", "bins"}, {"expected"});
    graph_.Node("Reshape", {"expected", "by_anchor"}, {"distances"});
    return "distances";
  }

  // Tensor `boxes`: centre and size, or corners where no suppression follows.
  void WriteBoxes() {
    const std::string distances = Distances();
    std::vector<float> centres;
    std::vector<float> rows;
    std::vector<float> steps;
    for (const int cell : kCells) {
      for (int y = 0; y < Rows(cell); ++y) {
        for (int x = 0; x < Columns(cell); ++x) {
          centres.push_back(static_cast<float>(x) + 0.5f);
          rows.push_back(static_cast<float>(y) + 0.5f);
          steps.push_back(static_cast<float>(cell));
        }
      }
    }
    centres.insert(centres.end(), rows.begin(), rows.end());
    graph_.Initializer(Floats("centres", {1, 2, Anchors()}, centres));
    graph_.Initializer(Floats("steps", {1, 1, Anchors()}, steps));
    graph_.Initializer(Floats("two", {}, {2}));
    Shape("halves", {2, 2});
    graph_.Node("Split", {distances, "halves"}, {"before", "after"}, Integer("axis", 1));
    graph_.Node("Sub", {"centres", "before"}, {"first"});
    graph_.Node("Add", {"centres", "after"}, {"last"});
    if (options_.one_to_one) {
      graph_.Node("Concat", {"first", "last"}, {"in_cells"}, Integer("axis", 1));
    } else {
      graph_.Node("Add", {"first", "last"}, {"sum"});
      graph_.Node("Div", {"sum", "two"}, {"middle"});
      graph_.Node("Sub", {"last", "first"}, {"size"});
      graph_.Node("Concat", {"middle", "size"}, {"in_cells"}, Integer("axis", 1));
    }
    graph_.Node("Mul", {"in_cells", "steps"}, {"boxes"});
  }

  void WriteBestPairs(const std::string& output) {
    const int classes = options_.classes;
    Shape("most", {300});
    Shape("row.parts", {4, classes});
    Shape("last_axis", {-1});
    Shape("classes", {classes});
    Shape("times4", {1, 1, 4});
    Shape("times_classes", {1, 1, classes});
    Shape("flat_scores", {options_.batch, -1});
    graph_.Node("Transpose", {"rows"}, {"columns"}, Integers("perm", {0, 2, 1}));
    graph_.Node("Split", {"columns", "row.parts"}, {"all_boxes", "all_scores"}, Integer("axis", 2));
    graph_.Node("ReduceMax", {"all_scores"}, {"best"},
                Integers("axes", {2}) + Integer("keepdims", 0));
    graph_.Node("TopK", {"best", "most"}, {"best_scores", "best_anchors"}, Integer("axis", 1));
    graph_.Node("Unsqueeze", {"best_anchors", "last_axis"}, {"anchor_column"});
    graph_.Node("Tile", {"anchor_column", "times4"}, {"box_places"});
    graph_.Node("Tile", {"anchor_column", "times_classes"}, {"score_places"});
    graph_.Node("GatherElements", {"all_boxes", "box_places"}, {"some_boxes"}, Integer("axis", 1));
    graph_.Node("GatherElements", {"all_scores", "score_places"}, {"some_scores"},
                Integer("axis", 1));
    if (options_.one_class_per_box) {
      // Scores below the best one of their anchor become 0.
      graph_.Node("ReduceMax", {"some_scores"}, {"best_of_box"}, Integers("axes", {2}));
      graph_.Node("Sub", {"some_scores", "best_of_box"}, {"behind_best"});
      graph_.Initializer(Floats("zero", {}, {0}));
      graph_.Node("Equal", {"behind_best", "zero"}, {"is_best"});
      graph_.Node("Where", {"is_best", "some_scores", "zero"}, {"kept_scores"});
    }
    graph_.Node("Reshape",
                {options_.one_class_per_box ? "kept_scores" : "some_scores", "flat_scores"},
                {"pairs"});
    graph_.Node("TopK", {"pairs", "most"}, {"pair_scores", "pair_places"}, Integer("axis", 1));
    graph_.Node("Div", {"pair_places", "classes"}, {"pair_anchors"});
    graph_.Node("Mod", {"pair_places", "classes"}, {"pair_classes"});
    graph_.Node("Unsqueeze", {"pair_anchors", "last_axis"}, {"pair_column"});
    graph_.Node("Tile", {"pair_column", "times4"}, {"pair_box_places"});
    graph_.Node("GatherElements", {"some_boxes", "pair_box_places"}, {"final_boxes"},
                Integer("axis", 1));
    graph_.Node("Unsqueeze", {"pair_scores", "last_axis"}, {"score_column"});
    graph_.Node("Cast", {"pair_classes"}, {"float_classes"}, Integer("to", kFloat));
    graph_.Node("Unsqueeze", {"float_classes", "last_axis"}, {"class_column"});
    graph_.Node("Concat", {"final_boxes", "score_column", "class_column"}, {output},
                Integer("axis", 2));
  }

  HeadOptions options_;
  GraphWriter graph_;
  std::mt19937 random_{7};
};

}  // namespace lattice::test

#endif  // LATTICE_TEST_MODEL_HEAD_WRITER_H_
