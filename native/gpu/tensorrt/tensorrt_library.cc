#include "native/gpu/tensorrt/tensorrt_library.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/tensorrt/tensorrt_logger.h"

namespace lattice {
namespace {

using CreateObject = void* (*)(void* logger, int32_t version);
using CreateParserObject = void* (*)(void* network, void* logger, int version);
using VersionPart = int32_t (*)();

// Opens a library by its name alone, as TensorRT opens its own: the loader searches
// LD_LIBRARY_PATH, the folder of TensorRT at build time (the run path of the addon) and the
// system's folders.
void* OpenLibrary(const std::string& name) { return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); }

// The folder that an open library lies in; "" where the loader does not say.
std::filesystem::path FolderOf(void* library) {
  const link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return {};
  return std::filesystem::path(map->l_name).parent_path();
}

// The builder's kernels are in libraries that libnvinfer opens by name, and it has no run path of
// its own: unless LD_LIBRARY_PATH or the system's folders have them, it finds only those that are
// open under that name. TensorRT's own message names one that stays missing.
void OpenBuilderResources(void* infer, const std::string& release) {
  const std::string suffix = ".so." + release;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  std::filesystem::directory_iterator file(FolderOf(infer), error);
  for (; !error && file != end; file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (name.starts_with("libnvinfer_builder_resource") && name.ends_with(suffix)) {
      (void)dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    }
  }
}

Status Missing(const std::string& name) {
  const char* words = dlerror();
  std::string sentence = "TensorRT " + TensorRtMajor() + " is missing: " + name;
  sentence.append(" cannot be opened (").append(words == nullptr ? "no reason given" : words);
  sentence.append("). Install NVIDIA's libnvinfer").append(TensorRtMajor());
  sentence.append(" packages, or add their folder to LD_LIBRARY_PATH.");
  return {StatusCode::kGpuUnavailable, sentence};
}

template <typename Function>
Function Find(void* library, const char* symbol) {
  return reinterpret_cast<Function>(dlsym(library, symbol));
}

// An error in the log is a failure even with a pointer: the pointer may be invalid.
template <typename Object>
Result<std::unique_ptr<Object>> Checked(void* made, const char* what) {
  std::string error = TensorRtLogger::Get().TakeError();
  if (made != nullptr && error.empty()) {
    return std::unique_ptr<Object>(static_cast<Object*>(made));
  }
  if (error.empty()) error = "no reason given";
  return Status(TensorRtLogger::CodeOf(error, StatusCode::kGpuUnavailable),
                std::string("TensorRT's ") + what + " cannot be created: " + error);
}

}  // namespace

std::string TensorRtMajor() { return std::to_string(NV_TENSORRT_MAJOR); }

Status CheckTensorRtVersion(int major, int minor, const std::string& version) {
  // Newer libraries serve older headers of the same major version, not the other way round.
  if (major == NV_TENSORRT_MAJOR && minor >= NV_TENSORRT_MINOR) return {};
  return {StatusCode::kGpuUnavailable,
          "TensorRT " + version + " is installed, but this build needs " + TensorRtMajor() + "." +
              std::to_string(NV_TENSORRT_MINOR) + " or a later " + TensorRtMajor() +
              ". Install that, or build lattice-core against the TensorRT of this machine."};
}

Result<const TensorRtLibrary*> TensorRtLibrary::Open() {
  static const Result<const TensorRtLibrary*> opened = OpenOnce();
  return opened;
}

Result<const TensorRtLibrary*> TensorRtLibrary::OpenOnce() {
  const auto gpus = ListGpus();
  if (!gpus.ok()) return gpus.status();
  const std::string name = "libnvinfer.so." + TensorRtMajor();
  void* infer = OpenLibrary(name);
  if (infer == nullptr) return Missing(name);
  auto library = std::unique_ptr<TensorRtLibrary>(new TensorRtLibrary(infer));
  const Status fits = library->ReadVersion();
  if (!fits.ok()) return fits;
  return library.release();
}

Status TensorRtLibrary::ReadVersion() {
  std::array<int32_t, 3> parts{};
  const std::array<const char*, 3> symbols = {"getInferLibMajorVersion", "getInferLibMinorVersion",
                                              "getInferLibPatchVersion"};
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto part = Find<VersionPart>(infer_, symbols[i]);
    if (part == nullptr) {
      return {StatusCode::kGpuUnavailable,
              "The TensorRT library found is older than 10.6. Install TensorRT " + TensorRtMajor() +
                  "."};
    }
    parts[i] = part();
    if (i > 0) version_.append(".");
    version_.append(std::to_string(parts[i]));
  }
  release_ = version_;
  if (const auto build = Find<VersionPart>(infer_, "getInferLibBuildVersion"); build != nullptr) {
    version_.append(".").append(std::to_string(build()));
  }
  return CheckTensorRtVersion(parts[0], parts[1], version_);
}

Result<std::unique_ptr<nvinfer1::IRuntime>> TensorRtLibrary::CreateRuntime() const {
  const auto create = Find<CreateObject>(infer_, "createInferRuntime_INTERNAL");
  if (create == nullptr) return Missing("createInferRuntime");
  (void)TensorRtLogger::Get().TakeError();
  return Checked<nvinfer1::IRuntime>(create(&TensorRtLogger::Get(), NV_TENSORRT_VERSION),
                                     "runtime");
}

Result<std::unique_ptr<nvinfer1::IBuilder>> TensorRtLibrary::CreateBuilder() const {
  const auto create = Find<CreateObject>(infer_, "createInferBuilder_INTERNAL");
  if (create == nullptr) return Missing("createInferBuilder");
  OpenBuilderResources(infer_, release_);
  (void)TensorRtLogger::Get().TakeError();
  return Checked<nvinfer1::IBuilder>(create(&TensorRtLogger::Get(), NV_TENSORRT_VERSION),
                                     "builder");
}

Result<std::unique_ptr<nvonnxparser::IParser>> TensorRtLibrary::CreateParser(
    nvinfer1::INetworkDefinition& network) const {
  const std::string name = "libnvonnxparser.so." + TensorRtMajor();
  void* const parser = OpenLibrary(name);
  if (parser == nullptr) return Missing(name);
  const auto create = Find<CreateParserObject>(parser, "createNvOnnxParser_INTERNAL");
  if (create == nullptr) return Missing("createNvOnnxParser");
  (void)TensorRtLogger::Get().TakeError();
  return Checked<nvonnxparser::IParser>(
      create(&network, &TensorRtLogger::Get(), NV_ONNX_PARSER_VERSION), "ONNX parser");
}

}  // namespace lattice
