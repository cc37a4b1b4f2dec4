#include "native/cpu/compiled_network.h"

#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "native/cpu/cpu_precision.h"
#include "native/cpu/library_and_cpu.h"
#include "native/cpu/network_traits.h"
#include "native/cpu/openvino_model.h"
#include "native/cpu/rectangles.h"
#include "native/kept/file_name.h"
#include "native/kept/kept_folder.h"
#include "native/layouts/known_layout.h"
#include "native/model/model_file.h"

namespace lattice {
namespace {

// Raise it with every change of how the traits of a model are found or stored.
constexpr int kFormat = 5;
constexpr char kSuffix[] = ".network";

// Stored as the bytes of the traits, then the bytes that the library exports.
struct KeptNetwork {
  NetworkTraits traits;
  ov::Tensor exported;
};

ov::Tensor Copied(std::span<const char> bytes) {
  ov::Tensor tensor(ov::element::u8, {bytes.size()});
  std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

// The name has a hash of everything that a kept network depends on.
std::string NameOf(const std::string& path, const std::string& sha256, bool bf16) {
  std::ostringstream all;
  all << kFormat << ' ' << bf16 << ' ' << LibraryAndCpu() << ' ' << sha256;
  return PlainPart(std::filesystem::path(path).stem()) + "_cpu_" + HashPart(all.str()) + kSuffix;
}

// Returns nullopt when no network is kept. When one is kept but unusable, it also sets `fault`.
std::optional<KeptNetwork> Kept(const KeptFolder& folder, const std::string& name, size_t classes,
                                std::string* fault) {
  const auto file = folder.Load(name, fault);
  if (!file) return std::nullopt;
  const auto traits = ReadTraits(*file, classes);
  if (!traits) {
    *fault = name + " does not describe the network of its model.";
    return std::nullopt;
  }
  return KeptNetwork{*traits, Copied(std::span(*file).subspan(kTraitsBytes))};
}

// Returns false when the network cannot be kept: the next load then only takes longer.
bool Keep(const KeptFolder& folder, const std::string& name, const KeptNetwork& network,
          size_t most_bytes) {
  std::vector<char> file = BytesOf(network.traits);
  const auto* exported = static_cast<const char*>(network.exported.data());
  file.insert(file.end(), exported, exported + network.exported.get_byte_size());
  // One try: while another process writes, this one does not keep its network.
  const auto lock = folder.Lock("networks", Clock::now());
  if (!lock.ok() || file.size() > most_bytes) return false;
  const bool kept = folder.Store(name, file).ok();
  // Hold the new file before KeepWithin, which removes files that nobody holds.
  const ScopedFd held = folder.Hold(name);
  folder.KeepWithin(kSuffix, most_bytes);
  return kept;
}

// `bf16`: whether the settings want bf16; a network with `only_f32` does not get it.
CpuPrecision PrecisionOf(const NetworkTraits& traits, bool bf16) {
  return {.bf16 = bf16 && !traits.only_f32,
          .eight_bit = traits.quantization != Quantization::kSigned};
}

// For one thread: threads and streams are chosen when it is imported.
KeptNetwork Compile(const OpenVinoModel& model, bool bf16) {
  auto compiled = SharedCore().compile_model(model.network, "CPU",
                                             CpuProperties(1, 0, PrecisionOf(model.info, bf16)));
  std::ostringstream exported;
  compiled.export_model(exported);
  return {model.info, Copied(std::move(exported).str())};
}

ModelInfo Described(ModelInfo info, const NetworkTraits& traits, CpuPrecision precision) {
  // ModelInfo is NetworkTraits with more: this replaces that part.
  static_cast<NetworkTraits&>(info) = traits;
  info.device = "CPU";
  info.precision = precision.bf16 ? "bf16" : "f32";
  if (traits.quantization == Quantization::kUnsigned) info.precision = "int8";
  if (info.any_rectangle) info.rectangles = UsualRectangles(info);
  return info;
}

// Returns nullopt when networks are not to be kept.
std::optional<KeptFolder> OpenFolder(const EngineOptions& options) {
  // A kept file stores only the traits, and they do not hold ModelInfo::rectangles. With a list of
  // rectangles the network is compiled at each load.
  if (options.kept_folder.empty() || options.most_kept_bytes == 0 || options.rectangles) {
    return std::nullopt;
  }
  auto opened = KeptFolder::Open(options.kept_folder);
  if (!opened.ok()) return std::nullopt;
  return *std::move(opened);
}

}  // namespace

Result<CompiledNetwork> CompiledNetwork::Load(const std::string& path, const EngineOptions& options,
                                              Source source) {
  auto file = ReadDescribedModel(path);
  if (!file.ok()) return file.status();
  ModelInfo& described = file->info;
  const auto bf16 = UsesBf16(options.precision, options.kept_folder);
  if (!bf16.ok()) return bf16.status();

  const size_t file_bytes = file->bytes.size();
  const auto folder = OpenFolder(options);
  const std::string name = folder ? NameOf(path, described.sha256, *bf16) : std::string();
  std::optional<KeptNetwork> network;
  std::string fault;
  if (folder && source == Source::kKeptOrFile) {
    network = Kept(*folder, name, described.names.size(), &fault);
  }
  const bool was_kept = network.has_value();
  bool is_kept = was_kept;
  if (!network) {
    const std::string known = InKnownLayout(std::move(file->bytes), &described);
    auto model = ReadOpenVinoModel(known, described, options.rectangles);
    if (!model.ok()) return model.status();
    network = Compile(*model, *bf16);
    described = std::move(model->info);
    is_kept = folder && Keep(*folder, name, *network, options.most_kept_bytes);
  }
  CompiledNetwork compiled;
  compiled.precision_ = PrecisionOf(network->traits, *bf16);
  compiled.info_ = Described(std::move(described), network->traits, compiled.precision_);
  compiled.info_.was_kept = was_kept;
  if (is_kept) compiled.info_.kept_file = name;
  if (is_kept) compiled.in_use_ = std::make_shared<const ScopedFd>(folder->Hold(name));
  if (!fault.empty()) compiled.info_.replaced.push_back(fault);
  compiled.exported_ = network->exported;
  compiled.file_bytes_ = file_bytes;
  return compiled;
}

ov::CompiledModel CompiledNetwork::WithStreams(int threads, int streams) const {
  auto network =
      SharedCore().import_model(exported_, "CPU", CpuProperties(threads, streams, precision_));
  CheckPorts(network, info_);
  return network;
}

}  // namespace lattice
