#include "bench/native/matrix_rate.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/native/gpu_stopwatch.h"
#include "bench/native/matrix_product.h"
#include "native/gpu/cuda/cuda_status.h"
#include "native/gpu/tensorrt/tensorrt_builder.h"
#include "native/gpu/tensorrt/tensorrt_logger.h"

namespace lattice {
namespace {

// Of one round: some 10 ms, so that its start does not count.
constexpr double kRoundFlops = 8e12;

Status Refused(const std::string& what) {
  return TensorRtLogger::Get().Failure(StatusCode::kDetectionFailed, what);
}

// A built product and the memory it works in; the members are destroyed last to first.
struct Product {
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
  std::unique_ptr<nvinfer1::IExecutionContext> context;
  DeviceBuffer images;
  DeviceBuffer output;
};

Result<std::vector<char>> Build(const TensorRtLibrary& library, int size, Clock::time_point until) {
  ModelInfo shape;
  shape.input_width = size;
  shape.input_height = size;
  shape.fixed_batch = 1;
  std::vector<char> timings;  // not used further
  return BuildTensorRtPlan(library, MatrixProductModel(size), shape, {1}, &timings,
                           [&](double) { return Clock::now() < until; });
}

Status Fill(const Stream& stream, int size, Product* product) {
  const auto side = static_cast<size_t>(size);
  const std::vector<uint16_t> halves = SpreadHalves(3 * side * side);
  const size_t bytes = halves.size() * sizeof(uint16_t);
  for (DeviceBuffer* buffer : {&product->images, &product->output}) {
    auto memory = DeviceBuffer::Allocate(bytes);
    if (!memory.ok()) return memory.status();
    *buffer = *std::move(memory);
  }
  const Status queued = ToStatus(cudaMemcpyAsync(product->images.data(), halves.data(), bytes,
                                                 cudaMemcpyHostToDevice, stream.get()),
                                 "copying a matrix to the GPU");
  return queued.ok() ? stream.Synchronize() : queued;
}

Status Open(const TensorRtLibrary& library, const std::vector<char>& plan, const Stream& stream,
            int size, Product* product) {
  auto runtime = library.CreateRuntime();
  if (!runtime.ok()) return runtime.status();
  product->runtime = *std::move(runtime);
  product->engine.reset(product->runtime->deserializeCudaEngine(plan.data(), plan.size()));
  if (!product->engine) return Refused("TensorRT cannot read the product it built");
  product->context.reset(product->engine->createExecutionContext());
  if (!product->context) return Refused("TensorRT gave no execution context");
  const Status filled = Fill(stream, size, product);
  if (!filled.ok()) return filled;
  nvinfer1::IExecutionContext& context = *product->context;
  if (!context.setInputShape("images", nvinfer1::Dims4(1, 3, size, size)) ||
      !context.setTensorAddress("images", product->images.data()) ||
      !context.setTensorAddress("output0", product->output.data())) {
    return Refused("TensorRT refused the matrices");
  }
  return {};
}

}  // namespace

Result<double> MeasureMatrixRate(const TensorRtLibrary& library, const Stream& stream, int size,
                                 int rounds, Clock::time_point until) {
  const auto plan = Build(library, size, until);
  if (!plan.ok()) return plan.status();
  Product product;
  const Status opened = Open(library, *plan, stream, size, &product);
  if (!opened.ok()) return opened;

  const double flops = MatrixProductFlops(size);
  const int products = std::max(1, static_cast<int>(kRoundFlops / flops));
  const auto multiply = [&] {
    for (int i = 0; i < products; ++i) {
      if (!product.context->enqueueV3(stream.get())) return Refused("The product could not run");
    }
    return Status();
  };
  const auto ms = GpuStopwatch(stream).MedianMs(multiply, rounds);
  // The product is freed only when the GPU has ended it.
  const Status idle = stream.Synchronize();
  if (!ms.ok()) return ms.status();
  if (!idle.ok()) return idle;
  return products * flops / (*ms * 1e9);
}

}  // namespace lattice
