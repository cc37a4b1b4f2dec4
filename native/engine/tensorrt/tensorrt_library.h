// TensorRT's libraries, opened at run time: an addon with the TensorRT engine also starts where
// they are missing.
#ifndef LATTICE_ENGINE_TENSORRT_TENSORRT_LIBRARY_H_
#define LATTICE_ENGINE_TENSORRT_TENSORRT_LIBRARY_H_

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <string>

#include "native/base/status.h"

namespace lattice {

class TensorRtLibrary {
 public:
  // Opens libnvinfer once for the process; the parser when it is first needed. kGpuUnavailable
  // names what is missing and how to get it: no usable GPU, no library, one of another major
  // version or older than the headers of this build. Thread-safe.
  //
  // Creating anything of TensorRT on a machine without a GPU ends the process in some versions and
  // returns unusable pointers in others, so nothing else may create it.
  static Result<const TensorRtLibrary*> Open();

  // "10.15.1.29", all parts of the library in use.
  const std::string& version() const { return version_; }

  // Never null when ok; TensorRT's own words else.
  Result<std::unique_ptr<nvinfer1::IRuntime>> CreateRuntime() const;
  Result<std::unique_ptr<nvinfer1::IBuilder>> CreateBuilder() const;
  // `network` must outlive the parser.
  Result<std::unique_ptr<nvonnxparser::IParser>> CreateParser(
      nvinfer1::INetworkDefinition& network) const;

 private:
  explicit TensorRtLibrary(void* infer) : infer_(infer) {}
  static Result<const TensorRtLibrary*> OpenOnce();
  Status ReadVersion();

  void* const infer_;  // never closed: TensorRT keeps threads and static state
  std::string version_;
  std::string release_;  // its first three parts, which name TensorRT's files
};

// The major version that this build takes, "10" or "11".
std::string TensorRtMajor();

// Whether a library of this version serves the headers of this build; else kGpuUnavailable with
// what was found and what is needed. `version` is all its parts.
Status CheckTensorRtVersion(int major, int minor, const std::string& version);

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_TENSORRT_LIBRARY_H_
