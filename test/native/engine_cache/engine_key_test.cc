#include "native/engine_cache/engine_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "native/engine_cache/crc32.h"
#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

TEST(Crc32Test, IsThatOfZlibInOnePartOrTwo) {
  EXPECT_EQ(Crc32(std::string_view()), 0u);
  EXPECT_EQ(Crc32(std::string_view("123456789")), 0xcbf43926u);
  EXPECT_EQ(Crc32(std::string_view("56789"), Crc32(std::string_view("1234"))), 0xcbf43926u);
}

// Stored files carry it: a change here makes every stored engine useless.
TEST(EngineKeyTest, TextAndStemAreStable) {
  EXPECT_EQ(HeaderText(SampleHeader()),
            R"({"tensorrt_version":"10.15.1.29","gpu_name":"NVIDIA H100 80GB HBM3","sm":"9.0",)"
            R"("model_sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",)"
            R"("model_crc32":"0a1b2c3d","precision":"fp16","buckets":[1,2,4,8,16,32],)"
            R"("input":[640,640],"builder_level":5,"conversion_version":1,)"
            R"("model_name":"vehicles-v8n.pt","created_s":1760000000,"build_ms":183250})");
  EXPECT_EQ(EngineStem(SampleKey()), "9f86d081884c-8f83d88e");
}

TEST(EngineKeyTest, TextsAreEscaped) {
  EngineHeader header = SampleHeader();
  header.model_name = "gr\xc3\xbcn\n\"\\.pt";
  EXPECT_NE(HeaderText(header).find("\"model_name\":\"gr\xc3\xbcn\\u000a\\\"\\\\.pt\""),
            std::string::npos)
      << HeaderText(header);
}

using Change = std::function<void(EngineKey*)>;

TEST(EngineKeyTest, EveryFieldMatters) {
  const std::vector<Change> changes = {
      [](EngineKey*) {},
      [](EngineKey* key) { key->model_sha256 += "0"; },
      [](EngineKey* key) { ++key->model_crc32; },
      [](EngineKey* key) { key->tensorrt_version = "10.15.1.30"; },
      [](EngineKey* key) { key->gpu_name += " "; },
      [](EngineKey* key) { key->sm_major = 10; },
      [](EngineKey* key) { key->sm_minor = 1; },
      [](EngineKey* key) { key->precision = "fp32"; },
      [](EngineKey* key) { key->buckets = {1, 2, 4, 8, 163, 2}; },
      [](EngineKey* key) { key->buckets = {2, 1, 4, 8, 16, 32}; },
      [](EngineKey* key) { key->buckets = {}; },
      [](EngineKey* key) { key->input_width = 641; },
      [](EngineKey* key) { key->input_height = 641; },
      [](EngineKey* key) { key->builder_level = 4; },
      [](EngineKey* key) { key->conversion_version = 2; },
      // A value that would write the next field is no other key's value.
      [](EngineKey* key) { key->gpu_name = "x\",\"sm\":\"9.0"; },
  };
  std::set<std::string> texts;
  std::set<std::string> stems;
  for (const Change& change : changes) {
    EngineKey key = SampleKey();
    change(&key);
    EXPECT_TRUE(texts.insert(KeyText(key)).second) << KeyText(key);
    EXPECT_TRUE(stems.insert(EngineStem(key)).second) << KeyText(key);
  }
}

TEST(EngineKeyTest, TimingsDependOnTensorRtAndTheGpuOnly) {
  EngineKey other = SampleKey();
  other.model_sha256 = "another";
  other.buckets = {1};
  other.precision = "fp32";
  EXPECT_EQ(TimingStem(other), TimingStem(SampleKey()));
  for (const Change& change : std::vector<Change>{
           [](EngineKey* key) { key->tensorrt_version += "0"; },
           [](EngineKey* key) { key->gpu_name += "0"; }, [](EngineKey* key) { ++key->sm_minor; }}) {
    EngineKey changed = SampleKey();
    change(&changed);
    EXPECT_NE(TimingStem(changed), TimingStem(SampleKey()));
  }
}

}  // namespace
}  // namespace lattice
