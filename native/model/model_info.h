// Properties of a model: from its file, and from the engine that runs it.
#ifndef LATTICE_MODEL_MODEL_INFO_H_
#define LATTICE_MODEL_MODEL_INFO_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "native/model/head.h"
#include "native/model/input_size.h"

namespace lattice {

// The 8-bit type of a model's quantized activations; kNone: not quantized. With signed ones
// OpenVINO's integer convolutions give wrong answers (2026.4.1: every score near 0).
enum class Quantization { kNone, kUnsigned, kSigned };

// Numbers that reading the network of a file finds. They are stored with the compiled network.
struct NetworkTraits {
  int input_width = 0;
  int input_height = 0;
  Head head;
  int anchors = 0;             // in the output of a whole network; 0 for a cut one
  bool any_rectangle = false;  // could run at every smaller input with sides of whole strides
  int fixed_batch = 0;         // 0 = any
  // True: pictures are stretched to the whole input. False: they keep their proportions.
  bool stretched = false;
  // True: the network never runs in bf16, whose steps of 1/256 would move the boxes of a network
  // that computes them as fractions of the picture.
  bool only_f32 = false;
  Quantization quantization = Quantization::kNone;  // on the CPU only
  bool byte_input = false;  // its input is bytes, 0 to 255, not floats, 0 to 1; on the CPU only
};

// Constant once the model is loaded.
struct ModelInfo : NetworkTraits {
  std::string task;  // always "detect" once loaded
  std::vector<std::string> names;
  std::vector<InputSize> rectangles;  // smaller inputs that it also runs at, the smallest first
  std::vector<std::string> without;   // a sentence for each requested ability that it lacks
  int stride = 32;
  std::string device;     // "CPU", or the GPU's name
  std::string precision;  // "f32", "bf16", ...
  std::string sha256;     // hex digest of the bytes that ReadModelFile returns
  // The file of the CPU's network in EngineOptions::kept_folder; "" if it is not kept.
  std::string kept_file;
  bool was_kept = false;  // whether the network was read from `kept_file`
  // A sentence for each kept file that was damaged and was replaced.
  std::vector<std::string> replaced;
  std::map<std::string, std::string> metadata;
};

// The engine of a GPU for batches of one size.
struct BatchEngine {
  int batch = 1;
  bool is_loaded = false;
  // Its name in the folder of engines, whether it exists or not; "" if a loaded engine is not kept.
  std::string file;
};

// Changes while a model is loaded: more batch sizes (Engine::AddBatches).
struct LoadedBatches {
  // The device memory that the loaded model takes, approximately.
  size_t memory_bytes = 0;
  std::vector<BatchEngine> engines;  // engines of a GPU, by ascending batch size
};

}  // namespace lattice

#endif  // LATTICE_MODEL_MODEL_INFO_H_
