#include "native/gpu/tensorrt/engine_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace lattice {
namespace {

EngineKey SampleKey() {
  return {.model_name = "vehicles-v8n.onnx",
          .model_sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
          .tensorrt_version = "10.15.1.29",
          .gpu_name = "NVIDIA H100 80GB HBM3",
          .sm_major = 9,
          .sm_minor = 0,
          .precision = "fp16",
          .batch = 8,
          .input_width = 640,
          .input_height = 640,
          .builder_level = 5,
          .conversion_version = 1};
}

// A change here makes every stored engine useless.
TEST(EngineKeyTest, NamesAreStable) {
  EXPECT_EQ(EngineName(SampleKey()),
            "vehicles-v8n_NVIDIA-H100-80GB-HBM3_sm9.0_trt10.15.1.29_fp16_"
            "4d86a95189626e8a53c60fd5e82f6662.engine");
  EXPECT_EQ(TimingName(SampleKey()), "timing_NVIDIA-H100-80GB-HBM3_sm9.0_trt10.15.1.29.cache");
}

TEST(EngineKeyTest, NamesArePlainAndShort) {
  EngineKey key = SampleKey();
  key.model_name = "../gr\xc3\xbcn_\n\"/" + std::string(250, 'x') + ".onnx";
  key.gpu_name = std::string(256, '_');
  for (const std::string& name : {EngineName(key), TimingName(key)}) {
    EXPECT_LT(name.size(), 200u);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789.-_"),
              std::string::npos)
        << name;
  }
}

using Change = std::function<void(EngineKey*)>;

TEST(EngineKeyTest, EveryFieldMatters) {
  const std::vector<Change> changes = {
      [](EngineKey*) {},
      [](EngineKey* key) { key->model_sha256 += "0"; },
      [](EngineKey* key) { key->model_name = "vehicles_v8n.onnx"; },
      [](EngineKey* key) { key->model_name = "vehicles-v8n.pt"; },
      [](EngineKey* key) { key->tensorrt_version = "10.15.1.30"; },
      [](EngineKey* key) { key->gpu_name += " "; },
      [](EngineKey* key) { key->sm_major = 10; },
      [](EngineKey* key) { key->sm_minor = 1; },
      [](EngineKey* key) { key->precision = "fp32"; },
      [](EngineKey* key) { key->batch = 1; },
      [](EngineKey* key) { key->input_width = 641; },
      [](EngineKey* key) { key->input_height = 641; },
      [](EngineKey* key) { key->builder_level = 4; },
      [](EngineKey* key) { key->conversion_version = 2; },
      // Values that run into the next field are no other key's values.
      [](EngineKey* key) { key->sm_major = 90, key->sm_minor = 0; },
      [](EngineKey* key) { key->batch = 86, key->input_width = 40; },
      [](EngineKey* key) { key->builder_level = 51, key->conversion_version = 1; },
      [](EngineKey* key) { key->builder_level = 5, key->conversion_version = 11; },
  };
  std::set<std::string> names;
  for (const Change& change : changes) {
    EngineKey key = SampleKey();
    change(&key);
    EXPECT_TRUE(names.insert(EngineName(key)).second) << EngineName(key);
  }
}

TEST(EngineKeyTest, TimingsDependOnTensorRtAndTheGpuOnly) {
  EngineKey other = SampleKey();
  other.model_sha256 = "another";
  other.batch = 1;
  other.precision = "fp32";
  EXPECT_EQ(TimingName(other), TimingName(SampleKey()));
  for (const Change& change : std::vector<Change>{
           [](EngineKey* key) { key->tensorrt_version += "0"; },
           [](EngineKey* key) { key->gpu_name += "0"; }, [](EngineKey* key) { ++key->sm_minor; }}) {
    EngineKey changed = SampleKey();
    change(&changed);
    EXPECT_NE(TimingName(changed), TimingName(SampleKey()));
  }
}

}  // namespace
}  // namespace lattice
