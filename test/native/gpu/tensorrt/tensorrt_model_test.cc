// The host's half of a model's way to a GPU. Needs no GPU.
#ifdef LATTICE_WITH_CUDA

#include "native/gpu/tensorrt/tensorrt_model.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "native/gpu/tensorrt/tensorrt_builder.h"
#include "test/native/model/head_writer.h"

namespace lattice {
namespace {

const std::string kTiny = LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx";
const std::string kShared = LATTICE_SOURCE_DIR "/../shared/testdata/models/";

TEST(TensorRtModelTest, ReadsAModel) {
  const auto model = ReadTensorRtModel(kTiny);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->name, "tiny-v8.onnx");
  EXPECT_EQ(model->info.input_width, 640);
  EXPECT_EQ(model->info.input_height, 640);
  EXPECT_EQ(model->info.names.size(), 4u);
  EXPECT_FALSE(model->onnx.empty());
  EXPECT_FALSE(model->cut.has_value());
  EXPECT_EQ(PrecisionOf(*model), "fp32");
  EXPECT_EQ(model->buckets, (std::vector<int>{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(ReadTensorRtModel(kTiny, {1, 8})->buckets, (std::vector<int>{1, 8}));
}

TEST(TensorRtModelTest, RefusesWhatIsMissingOrNoDetector) {
  EXPECT_EQ(ReadTensorRtModel("/nonexistent.onnx").status().code(), StatusCode::kUnknownModel);
  EXPECT_EQ(ReadTensorRtModel(LATTICE_SOURCE_DIR "/package.json").status().code(),
            StatusCode::kInvalidModel);
}

TEST(TensorRtModelTest, TheSharedDetectorsAreRead) {
  const std::string path = kShared + "yolov8n.onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: there is no " << path;
  const auto model = ReadTensorRtModel(path);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->info.names.size(), 80u);
  ASSERT_TRUE(model->cut.has_value());
  EXPECT_EQ(PrecisionOf(*model), "fp16");
  EXPECT_EQ(model->info.head.strides, (std::array<int, kHeadScales>{8, 16, 32}));
}

std::string Written(const test::HeadOptions& options) {
  const std::string path = testing::TempDir() + "/fixed-batch.onnx";
  std::ofstream(path, std::ios::binary) << test::HeadWriter(options).Model();
  return path;
}

TEST(TensorRtModelTest, AFixedBatchIsOpenedAndElseTheOnlyBucket) {
  const auto opened = ReadTensorRtModel(Written({}), {1, 8});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_TRUE(opened->cut.has_value());
  EXPECT_EQ(opened->buckets, (std::vector<int>{1, 8}));
  EXPECT_EQ(opened->info.fixed_batch, 0);
  EXPECT_TRUE(opened->info.without.empty());

  test::HeadOptions whole;
  whole.batch = 4;
  whole.reads_image = true;  // it runs whole, and an operator at its end joins the images
  const auto held = ReadTensorRtModel(Written(whole), {1, 8});
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_EQ(held->buckets, (std::vector<int>{4}));
  EXPECT_EQ(held->info.fixed_batch, 4);
  ASSERT_EQ(held->info.without.size(), 1u);
  EXPECT_NE(held->info.without[0].find("batches of 4"), std::string::npos);
  EXPECT_NE(held->info.without[0].find("dynamic=True"), std::string::npos);
}

TEST(TensorRtLibraryTest, OtherVersionsAreRefusedWithBothNumbers) {
  EXPECT_TRUE(CheckTensorRtVersion(NV_TENSORRT_MAJOR, NV_TENSORRT_MINOR, "same").ok());
  EXPECT_TRUE(CheckTensorRtVersion(NV_TENSORRT_MAJOR, NV_TENSORRT_MINOR + 3, "newer").ok());
  for (const auto& [major, minor] :
       {std::pair(NV_TENSORRT_MAJOR - 1, 99), std::pair(NV_TENSORRT_MAJOR + 1, 0),
        std::pair(NV_TENSORRT_MAJOR, NV_TENSORRT_MINOR - 1)}) {
    const std::string version = std::to_string(major) + "." + std::to_string(minor) + ".1";
    const Status refused = CheckTensorRtVersion(major, minor, version);
    EXPECT_EQ(refused.code(), StatusCode::kGpuUnavailable);
    EXPECT_NE(refused.message().find(version), std::string::npos) << refused.message();
    EXPECT_NE(refused.message().find(std::to_string(NV_TENSORRT_MAJOR) + "." +
                                     std::to_string(NV_TENSORRT_MINOR)),
              std::string::npos);
  }
}

#ifdef LATTICE_TENSORRT_LIBRARIES
// Nothing of TensorRT is linked, so this is what a linker would check.
TEST(TensorRtLibraryTest, TheLibrariesHaveWhatIsLookedUpInThem) {
  const std::string folder = LATTICE_TENSORRT_LIBRARIES;
  for (const auto& [name, symbols] : std::vector<std::pair<std::string, std::vector<const char*>>>{
           {"libnvinfer.so.",
            {"createInferRuntime_INTERNAL", "createInferBuilder_INTERNAL",
             "getInferLibMajorVersion", "getInferLibMinorVersion", "getInferLibPatchVersion"}},
           {"libnvonnxparser.so.", {"createNvOnnxParser_INTERNAL"}}}) {
    const std::string path = folder + "/" + name + TensorRtMajor();
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: there is no " << path;
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    for (const char* symbol : symbols) EXPECT_NE(dlsym(library, symbol), nullptr) << symbol;
  }
}
#endif

}  // namespace
}  // namespace lattice

#endif  // LATTICE_WITH_CUDA
