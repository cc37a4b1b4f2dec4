// libnvonnxparser, as far as the engine calls it.
#include <NvOnnxParser.h>

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "test/native/simulated_cuda/simulated_gpus.h"
#include "test/native/simulated_tensorrt/network_definition.h"

namespace lattice::simulated {
namespace {

class ParserError final : public nvonnxparser::IParserError {
 public:
  explicit ParserError(std::string words) : words_(std::move(words)) {}

  nvonnxparser::ErrorCode code() const override { return nvonnxparser::ErrorCode::kINVALID_NODE; }
  const char* desc() const override { return words_.c_str(); }
  const char* file() const override { return __FILE__; }
  int line() const override { return __LINE__; }
  const char* func() const override { return __func__; }
  int node() const override { return 0; }
  const char* nodeName() const override { return "/simulated/node"; }
  const char* nodeOperator() const override { return "Simulated"; }
  const char* const* localFunctionStack() const override { return nullptr; }
  int32_t localFunctionStackSize() const override { return 0; }

 private:
  const std::string words_;
};

// The parser's interface is a plain one, whose functions differ by version: its table is simulated
// too. Like NVIDIA's it logs nothing of what is wrong with a model: its errors are asked for.
class Parser {
 public:
  explicit Parser(NetworkDefinition& network) : network_(network), simulated_(Table(), this) {}

  nvonnxparser::IParser* get() { return simulated_.get(); }

 private:
  using Interface = nvonnxparser::IParser;
  using Self = Simulated<Interface, Parser>;

  bool Refuse(const char* words) {
    errors_.emplace_back(words);
    return false;
  }

  bool Parse(const void* bytes, size_t size) noexcept {
    if (Answer(Call::kParse) != cudaSuccess) {
      return Refuse("No importer registered for op: Simulated");
    }
    try {
      const std::string onnx(static_cast<const char*>(bytes), size);
      const auto input = ReadNetwork(onnx)->input();
      const ov::PartialShape shape = input.get_partial_shape();
      if (shape[2].is_dynamic() || shape[3].is_dynamic()) {
        return Refuse("With open sides every run would compute the anchors anew");
      }
      network_.Fill(onnx, input.get_any_name());
      return true;
    } catch (const std::exception& error) {
      return Refuse(error.what());
    }
  }

  static const SimulatedTable<Interface>& Table() {
    static const auto* table = [] {
      auto* made = new SimulatedTable<Interface>();
      made->Simulate(&Interface::parse,
                     [](void* self, const void* bytes, size_t size, const char*) {
                       return Self::OwnerOf(self).Parse(bytes, size);
                     });
      made->Simulate(&Interface::getNbErrors, [](void* self) {
        return static_cast<int>(Self::OwnerOf(self).errors_.size());
      });
      made->Simulate(&Interface::getError,
                     [](void* self, int index) -> const nvonnxparser::IParserError* {
                       return &Self::OwnerOf(self).errors_[static_cast<size_t>(index)];
                     });
      made->SimulateDeletion(&Interface::clearErrors,
                             [](void* self) { delete &Self::OwnerOf(self); });
      return made;
    }();
    return *table;
  }

  NetworkDefinition& network_;
  std::vector<ParserError> errors_;
  Self simulated_;
};

}  // namespace
}  // namespace lattice::simulated

extern "C" __attribute__((visibility("default"))) void* createNvOnnxParser_INTERNAL(void* network,
                                                                                    void*, int) {
  auto& definition = static_cast<lattice::simulated::NetworkDefinition&>(
      *static_cast<nvinfer1::INetworkDefinition*>(network));
  return (new lattice::simulated::Parser(definition))->get();
}
