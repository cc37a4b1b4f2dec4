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

// The engine of a GPU for batches of one size.
struct BatchEngine {
  int batch = 1;
  bool is_loaded = false;
  std::string file;  // in the folder of engines, there or not; "" where a loaded one is not kept
};

struct ModelInfo {
  std::string task;  // always "detect" once loaded
  std::vector<std::string> names;
  int input_width = 0;
  int input_height = 0;
  Head head;
  int anchors = 0;                    // of a whole network's output; 0 where it is cut
  bool any_rectangle = false;         // it also runs at every smaller input of whole strides
  std::vector<InputSize> rectangles;  // else: smaller inputs that it also runs at
  std::vector<std::string> without;   // a sentence for each thing asked for that it cannot do
  int fixed_batch = 0;                // 0 = any
  int stride = 32;
  // Pictures fill the whole input, whatever their proportions; else they keep these.
  bool stretched = false;
  // Never in bf16, whose steps of 1/256 move boxes that a network keeps as shares of the picture.
  bool only_f32 = false;
  std::string device;     // "CPU", or the GPU's name
  std::string precision;  // "f32", "bf16", ...
  // About what the loaded model takes of the memory of its device.
  size_t memory_bytes = 0;
  std::string sha256;                // of what ReadModelFile gives, hex
  std::vector<BatchEngine> engines;  // of a GPU, ascending
  std::string kept_file;  // of the CPU: its network in that folder; "" where it is not kept
  bool was_kept = false;  // the network was taken from there
  // A sentence for each kept file that was not as it was stored, and was made anew.
  std::vector<std::string> replaced;
  std::map<std::string, std::string> metadata;
};

}  // namespace lattice

#endif  // LATTICE_MODEL_MODEL_INFO_H_
