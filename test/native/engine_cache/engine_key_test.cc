#include "native/engine_cache/engine_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "native/engine_cache/engine_header.h"
#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

// Stored files carry it: a change here makes every engine in the field stale.
TEST(EngineKeyTest, TextAndStemAreStable) {
  EXPECT_EQ(KeyText(SampleKey()),
            "model_sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n"
            "tensorrt_version=10.15.1.29\n"
            "gpu_name=NVIDIA H100 80GB HBM3\n"
            "sm=9.0\n"
            "precision=fp16\n"
            "buckets=1,2,4,8,16,32\n"
            "input=640x640\n"
            "builder_level=5\n"
            "conversion_version=1\n");
  EXPECT_EQ(KeyStem(SampleKey()), "4ba08634d87b82b07798c5d54cf621d8");
}

using Change = std::function<void(EngineKey*)>;

TEST(EngineKeyTest, EveryFieldMatters) {
  const std::vector<Change> changes = {
      [](EngineKey*) {},
      [](EngineKey* key) { key->model_sha256 += "0"; },
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
      // A value that would write the next line is no other key's value.
      [](EngineKey* key) { key->gpu_name = "x\nsm=9.0"; },
  };
  std::set<std::string> stems;
  for (const Change& change : changes) {
    EngineKey key = SampleKey();
    change(&key);
    EXPECT_TRUE(stems.insert(KeyStem(key)).second) << KeyText(key);
    EXPECT_EQ(KeyStem(key).size(), 32u);
  }
}

EngineKey RandomKey(std::mt19937* random) {
  const auto number = [&] { return static_cast<int>((*random)()) >> (*random)() % 31; };
  const auto text = [&] {
    std::string value((*random)() % 12, '\0');
    for (char& byte : value) byte = static_cast<char>((*random)() % 8 == 0 ? '\n' : (*random)());
    return value;
  };
  EngineKey key{.model_sha256 = text(),
                .tensorrt_version = text(),
                .gpu_name = text(),
                .sm_major = number(),
                .sm_minor = number(),
                .precision = text(),
                .buckets = std::vector<int>((*random)() % 7),
                .input_width = number(),
                .input_height = number(),
                .builder_level = number(),
                .conversion_version = number()};
  for (int& bucket : key.buckets) bucket = number();
  return key;
}

TEST(EngineKeyTest, AnyKeyComesBackFromItsText) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const EngineKey key = RandomKey(&random);
    const std::string text = KeyText(key) + "more";
    NamedLines lines(text);
    EXPECT_EQ(TakeKey(&lines), key);
    EXPECT_EQ(lines.rest(), "more");
  }
}

TEST(EngineKeyTest, AnotherSpellingIsNoKey) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"sm=9.0", "sm=9"},
           {"sm=9.0", "sm=9.0.0"},
           {"sm=9.0", "sm=09.0"},
           {"buckets=1,", "buckets=1,,"},
           {"input=640x640", "input=640 x640"},
           {"builder_level=5", "builder_level=4294967301"},
           {"precision", "Precision"}}) {
    std::string text = KeyText(SampleKey());
    text.replace(text.find(from), from.size(), to);
    NamedLines lines(text);
    EXPECT_EQ(TakeKey(&lines), std::nullopt) << to;
  }
}

TEST(EngineKeyTest, TimingsDependOnTensorRtAndTheGpuAlone) {
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
