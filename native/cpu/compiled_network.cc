#include "native/cpu/compiled_network.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "native/cpu/cpu_precision.h"
#include "native/cpu/findings.h"
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
constexpr int kFormat = 4;
constexpr char kSuffix[] = ".network";

// A kept network is the bytes of the findings, then those of the library.
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
  all << kFormat << ' ' << ov::get_openvino_version().buildNumber << ' ' << bf16 << ' '
      << CpuFlags() << ' ' << sha256;
  return PlainPart(std::filesystem::path(path).stem()) + "_cpu_" + HashPart(all.str()) + kSuffix;
}

// Nothing where there is none; `fault` becomes a sentence where there is one that is of no use.
std::optional<Network> Kept(const EngineCache& cache, const std::string& name, size_t classes,
                            std::string* fault) {
  const auto file = cache.Load(name, fault);
  if (!file) return std::nullopt;
  const auto findings = ReadFindings(*file, classes);
  if (!findings) {
    *fault = name + " does not describe the network of its model.";
    return std::nullopt;
  }
  return Network{*findings, Copied(std::span(*file).subspan(kFindingsBytes))};
}

// Where it cannot be kept, the next load only takes longer. False then.
bool Keep(const EngineCache& cache, const std::string& name, const Network& network,
          size_t most_bytes) {
  std::vector<char> file = BytesOf(network.findings);
  const auto* exported = static_cast<const char*>(network.exported.data());
  file.insert(file.end(), exported, exported + network.exported.get_byte_size());
  const auto lock = cache.Lock("networks", Clock::now());
  if (!lock.ok() || file.size() > most_bytes) return false;
  const bool kept = cache.Store(name, file).ok();
  // Before the others are looked at, which it may be among.
  const ScopedFd held = cache.Hold(name);
  cache.KeepWithin(kSuffix, most_bytes);
  return kept;
}

// `bf16`: wanted, where the network allows it.
CpuPrecision PrecisionOf(const Findings& findings, bool bf16) {
  return {.bf16 = bf16 && !findings.only_f32,
          .eight_bit = findings.quantization != Quantization::kSigned};
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
  Describe(findings, &info);
  info.device = "CPU";
  info.precision = precision.bf16 ? "bf16" : "f32";
  if (findings.quantization == Quantization::kUnsigned) info.precision = "int8";
  return info;
}

// Nothing where the networks are not to be kept.
std::optional<EngineCache> OpenCache(const EngineOptions& options) {
  // The findings do not say at which rectangles of a list the network runs.
  if (options.cache_folder.empty() || options.most_kept_bytes == 0 || options.rectangles) {
    return std::nullopt;
  }
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
  std::string fault;
  if (cache && source == Source::kCacheOrFile) {
    network = Kept(*cache, name, described->names.size(), &fault);
  }
  const bool was_kept = network.has_value();
  bool is_kept = was_kept;
  std::vector<InputSize> rectangles;
  std::vector<std::string> without;
  if (!network) {
    const std::string readable = WithReadableLayout(*std::move(file), &*described);
    auto model = ReadOpenVinoModel(readable, *described, options.rectangles);
    if (!model.ok()) return model.status();
    rectangles = model->info.rectangles;
    without = model->info.without;
    network = Compile(*model, *bf16);
    is_kept = cache && Keep(*cache, name, *network, options.most_kept_bytes);
  }
  CompiledNetwork compiled;
  compiled.precision_ = PrecisionOf(network->findings, *bf16);
  compiled.info_ = Described(*std::move(described), network->findings, compiled.precision_);
  compiled.info_.rectangles = std::move(rectangles);
  compiled.info_.without = std::move(without);
  compiled.info_.was_kept = was_kept;
  if (is_kept) compiled.info_.kept_file = name;
  if (is_kept) compiled.in_use_ = std::make_shared<const ScopedFd>(cache->Hold(name));
  if (!fault.empty()) compiled.info_.replaced.push_back(fault);
  compiled.findings_ = network->findings;
  compiled.exported_ = network->exported;
  compiled.file_bytes_ = file_bytes;
  return compiled;
}

ov::CompiledModel CompiledNetwork::WithStreams(int threads, int streams) const {
  auto network =
      SharedCore().import_model(exported_, "CPU", CpuProperties(threads, streams, precision_));
  CheckPorts(network, findings_);
  return network;
}

}  // namespace lattice
