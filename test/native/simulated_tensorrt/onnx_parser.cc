// libnvonnxparser, as far as the engine calls it.
#include <NvOnnxParser.h>

#include <exception>
#include <string>

#include "test/native/simulated_cuda/simulated_gpus.h"
#include "test/native/simulated_tensorrt/network_definition.h"

namespace lattice::simulated {
namespace {

// The parser's interface is a plain one, whose functions differ by version: its table is played
// too.
class Parser {
 public:
  Parser(NetworkDefinition& network, nvinfer1::ILogger& logger)
      : network_(network), logger_(logger), played_(Table(), this) {}

  nvonnxparser::IParser* get() { return played_.get(); }

 private:
  using Interface = nvonnxparser::IParser;
  using Self = Played<Interface, Parser>;

  bool Parse(const void* bytes, size_t size) noexcept {
    if (Answer(Call::kParse) != cudaSuccess) {
      logger_.log(nvinfer1::ILogger::Severity::kERROR, "No importer registered for op: Simulated");
      return false;
    }
    try {
      const std::string onnx(static_cast<const char*>(bytes), size);
      const auto input = ReadNetwork(onnx)->input();
      const ov::PartialShape shape = input.get_partial_shape();
      if (shape[2].is_dynamic() || shape[3].is_dynamic()) {
        logger_.log(nvinfer1::ILogger::Severity::kERROR,
                    "With open sides every run would compute the anchors anew");
        return false;
      }
      network_.Fill(onnx, input.get_any_name());
      return true;
    } catch (const std::exception& error) {
      logger_.log(nvinfer1::ILogger::Severity::kERROR, error.what());
      return false;
    }
  }

  static const PlayedTable<Interface>& Table() {
    static const auto* table = [] {
      auto* made = new PlayedTable<Interface>();
      made->Play(&Interface::parse, [](void* self, const void* bytes, size_t size, const char*) {
        return Self::OwnerOf(self).Parse(bytes, size);
      });
      made->PlayDeletion(&Interface::clearErrors, [](void* self) { delete &Self::OwnerOf(self); });
      return made;
    }();
    return *table;
  }

  NetworkDefinition& network_;
  nvinfer1::ILogger& logger_;
  Self played_;
};

}  // namespace
}  // namespace lattice::simulated

extern "C" __attribute__((visibility("default"))) void* createNvOnnxParser_INTERNAL(void* network,
                                                                                    void* logger,
                                                                                    int) {
  auto& definition = static_cast<lattice::simulated::NetworkDefinition&>(
      *static_cast<nvinfer1::INetworkDefinition*>(network));
  return (new lattice::simulated::Parser(definition, *static_cast<nvinfer1::ILogger*>(logger)))
      ->get();
}
