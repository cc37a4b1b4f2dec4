// TensorRT's libraries, opened at run time: an addon with the TensorRT engine also starts without
// them.
#ifndef LATTICE_GPU_TENSORRT_TENSORRT_LIBRARY_H_
#define LATTICE_GPU_TENSORRT_TENSORRT_LIBRARY_H_

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <string>

#include "native/base/status.h"

namespace lattice {

class TensorRtLibrary {
 public:
  // Opens libnvinfer once per process, and the parser when it is first needed. kGpuUnavailable
  // names what is missing and how to install it: a GPU, the library, or one of the right major
  // version that is not older than the headers of this build. Thread-safe.
  //
  // Creating a TensorRT object on a machine without a GPU ends the process with some versions and
  // returns invalid pointers with others, so all of them are created through this class.
  static Result<const TensorRtLibrary*> Open();

  // "10.15.1.29", all parts of the library in use.
  const std::string& version() const { return version_; }

  // Never null when ok; a failure has TensorRT's own words.
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
  std::string release_;  // its first three parts, which are in the names of TensorRT's files
};

// The major version that this build needs, "10" or "11".
std::string TensorRtMajor();

// kOk if a library of this version works with the headers of this build, else kGpuUnavailable with
// the version found and the one needed. `version` has all parts.
Status CheckTensorRtVersion(int major, int minor, const std::string& version);

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_TENSORRT_LIBRARY_H_
