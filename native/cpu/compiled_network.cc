#include "native/cpu/compiled_network.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#include "native/cpu/cpu_precision.h"
#include "native/cpu/openvino_model.h"
#include "native/engine_cache/engine_cache.h"
#include "native/engine_cache/file_name.h"
#include "native/engine_cache/sha256.h"
#include "native/model/model_description.h"
#include "native/model/model_file.h"
#include "native/model/onnx_metadata.h"
#include "native/model/readable_layout.h"

namespace lattice {
namespace {

// To be raised with every change of what reading a model finds, or of what is kept of it.
constexpr int kFormat = 3;
constexpr char kSuffix[] = ".network";
// Of models and their versions; the files of others are removed.
constexpr size_t kMostKept = 16;

// What reading a model has found, beside its metadata. A kept network is these bytes, then those of
// the library.
struct Findings {
  InputSize input = {};
  Head head = {};
  int anchors = 0;
  int any_rectangle = 0;
  int fixed_batch = 0;
  int stretched = 0;
  int only_f32 = 0;
  Quantization quantization = Quantization::kNone;
};
static_assert(std::is_trivially_copyable_v<Findings>);

struct Network {
  Findings findings;
  ov::Tensor exported;
};

ov::Tensor Copied(std::span<const char> bytes) {
  ov::Tensor tensor(ov::element::u8, {bytes.size()});
  std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

// The instructions that the library may have made the network for.
std::string CpuFlags() {
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    if (line.starts_with("flags") || line.starts_with("Features")) return line;
  }
  return {};
}

// Says all that a kept network depends on.
std::string NameOf(const std::string& path, const std::string& sha256, bool bf16) {
  std::ostringstream all;
  all << kFormat << ' ' << sizeof(Findings) << ' ' << ov::get_openvino_version().buildNumber << ' '
      << bf16 << ' ' << CpuFlags() << ' ' << sha256;
  return PlainPart(std::filesystem::path(path).stem()) + "_cpu_" + HashPart(all.str()) + kSuffix;
}

std::optional<Network> Kept(const EngineCache& cache, const std::string& name) {
  const auto file = cache.Load(name);
  if (!file || file->size() <= sizeof(Findings)) return std::nullopt;
  Network network;
  std::memcpy(&network.findings, file->data(), sizeof(Findings));
  network.exported = Copied(std::span(*file).subspan(sizeof(Findings)));
  return network;
}

// Where it cannot be kept, the next load only takes longer.
void Keep(const EngineCache& cache, const std::string& name, const Network& network) {
  const auto lock = cache.Lock("networks", Clock::now());
  if (!lock.ok()) return;
  std::vector<char> file(sizeof(Findings) + network.exported.get_byte_size());
  std::memcpy(file.data(), &network.findings, sizeof(Findings));
  std::memcpy(file.data() + sizeof(Findings), network.exported.data(),
              network.exported.get_byte_size());
  (void)cache.Store(name, file);
  cache.KeepLatest(kSuffix, kMostKept);
}

// `bf16`: wanted, where the network allows it.
CpuPrecision PrecisionOf(const Findings& findings, bool bf16) {
  return {.bf16 = bf16 && findings.only_f32 == 0,
          .eight_bit = findings.quantization != Quantization::kSigned};
}

Findings FoundIn(const OpenVinoModel& model) {
  const ModelInfo& info = model.info;
  return {.input = {info.input_width, info.input_height},
          .head = info.head,
          .anchors = info.anchors,
          .any_rectangle = info.any_rectangle,
          .fixed_batch = info.fixed_batch,
          .stretched = info.stretched,
          .only_f32 = info.only_f32,
          .quantization = model.quantization};
}

Network Compile(const OpenVinoModel& model, bool bf16) {
  const Findings findings = FoundIn(model);
  auto compiled = SharedCore().compile_model(model.network, "CPU",
                                             CpuProperties(1, 0, PrecisionOf(findings, bf16)));
  std::ostringstream exported;
  compiled.export_model(exported);
  return {findings, Copied(std::move(exported).str())};
}

ModelInfo Described(ModelInfo info, const Findings& findings, CpuPrecision precision) {
  info.input_width = findings.input.width;
  info.input_height = findings.input.height;
  info.head = findings.head;
  info.anchors = findings.anchors;
  info.any_rectangle = findings.any_rectangle != 0;
  info.fixed_batch = findings.fixed_batch;
  info.stretched = findings.stretched != 0;
  info.only_f32 = findings.only_f32 != 0;
  info.device = "CPU";
  info.precision = precision.bf16 ? "bf16" : "f32";
  if (findings.quantization == Quantization::kUnsigned) info.precision = "int8";
  return info;
}

// Nothing where the networks are not to be kept.
std::optional<EngineCache> OpenCache(const EngineOptions& options) {
  // What a list of rectangles comes to is no part of the findings.
  if (options.cache_folder.empty() || options.rectangles) return std::nullopt;
  auto opened = EngineCache::Open(options.cache_folder);
  if (!opened.ok()) return std::nullopt;
  return *std::move(opened);
}

}  // namespace

Result<CompiledNetwork> CompiledNetwork::Load(const std::string& path, const EngineOptions& options,
                                              Source source) {
  auto file = ReadModelFile(path);
  if (!file.ok()) return file.status();
  auto metadata = ReadOnnxMetadata({reinterpret_cast<const uint8_t*>(file->data()), file->size()});
  if (!metadata.ok()) return metadata.status();
  auto described = DescribeMetadata(*std::move(metadata));
  if (!described.ok()) return described.status();
  const auto bf16 = UsesBf16(options.precision);
  if (!bf16.ok()) return bf16.status();

  described->sha256 = Sha256(*file);
  const size_t file_bytes = file->size();
  const auto cache = OpenCache(options);
  const std::string name = cache ? NameOf(path, described->sha256, *bf16) : std::string();
  std::optional<Network> network;
  if (cache && source == Source::kCacheOrFile) network = Kept(*cache, name);
  const bool was_kept = network.has_value();
  std::vector<InputSize> rectangles;
  std::vector<std::string> without;
  if (!network) {
    const std::string readable = WithReadableLayout(*std::move(file), &*described);
    auto model = ReadOpenVinoModel(readable, *described, options.rectangles);
    if (!model.ok()) return model.status();
    rectangles = model->info.rectangles;
    without = model->info.without;
    network = Compile(*model, *bf16);
    if (cache) Keep(*cache, name, *network);
  }
  CompiledNetwork compiled;
  compiled.precision_ = PrecisionOf(network->findings, *bf16);
  compiled.info_ = Described(*std::move(described), network->findings, compiled.precision_);
  compiled.info_.rectangles = std::move(rectangles);
  compiled.info_.without = std::move(without);
  compiled.exported_ = network->exported;
  compiled.file_bytes_ = file_bytes;
  compiled.was_kept_ = was_kept;
  return compiled;
}

ov::CompiledModel CompiledNetwork::WithStreams(int threads, int streams) const {
  return SharedCore().import_model(exported_, "CPU", CpuProperties(threads, streams, precision_));
}

}  // namespace lattice
