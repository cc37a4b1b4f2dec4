#include <gtest/gtest.h>

#include <set>

#include "native/engine_cache/engine_cache.h"
#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

using namespace std::chrono_literals;

using Names = std::set<std::string>;

PruneRules UnusedFor(std::chrono::hours age) {
  PruneRules rules;
  rules.unused_for = age;
  return rules;
}

PruneRules DryRun(PruneRules rules = {}) {
  rules.dry_run = true;
  return rules;
}

class EnginePruneTest : public testing::Test {
 protected:
  EnginePruneTest() : cache_(*EngineCache::Open(folder_.path())) {}

  // The engine's name.
  std::string Store(const EngineKey& key, std::chrono::hours age = 0h) {
    EngineHeader header = SampleHeader();
    header.key = key;
    const auto lock = cache_->Lock(key, Clock::now() + 10s);
    EXPECT_TRUE(lock.ok() && cache_->Store(*lock, header, std::string_view("plan")).ok());
    const std::string name = KeyStem(key) + ".engine";
    MakeOld(name, age);
    return name;
  }

  void MakeOld(const std::string& name, std::chrono::hours age) {
    std::filesystem::last_write_time(folder_ / name,
                                     std::filesystem::file_time_type::clock::now() - age);
  }

  Names Prune(const PruneRules& rules) {
    const auto files = cache_->Prune(rules);
    EXPECT_TRUE(files.ok()) << files.status().message();
    Names names;
    if (!files.ok()) return names;
    for (const PrunedFile& file : *files) {
      names.insert(file.name);
      EXPECT_EQ(std::filesystem::exists(folder_ / file.name), rules.dry_run) << file.name;
    }
    return names;
  }

  Names Left() {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  static EngineKey Key(const std::string& precision, const std::string& version = "10.15.1.29") {
    EngineKey key = SampleKey();
    key.precision = precision;
    key.tensorrt_version = version;
    return key;
  }

  TemporaryFolder folder_;
  std::unique_ptr<EngineCache> cache_;
};

TEST_F(EnginePruneTest, TakesWhatNobodyCanUse) {
  const std::string sound = Store(Key("fp16"));
  WriteWhole(folder_ / "damaged.engine", "LATENGIN");
  WriteWhole(folder_ / "broken-off.engine.partial", "LATENGIN");
  WriteWhole(folder_ / "timing-damaged.cache", "LATTIMNG");
  std::filesystem::copy_file(folder_ / sound, folder_ / "stale.engine");
  WriteWhole(folder_ / "foreign.engine", "#!/bin/sh");
  WriteWhole(folder_ / "notes.txt", "");
  const Names unusable = {"damaged.engine", "broken-off.engine.partial", "timing-damaged.cache",
                          "stale.engine"};
  const Names before = Left();
  EXPECT_EQ(Prune(DryRun()), unusable);
  for (const std::string& name : before) {
    EXPECT_TRUE(name.ends_with(".lock") || Left().contains(name)) << name;
  }
  EXPECT_EQ(Prune({}), unusable);
  EXPECT_EQ(Left(), (Names{sound, "foreign.engine", "notes.txt"}));
  EXPECT_EQ(Prune({}), Names());
}

TEST_F(EnginePruneTest, TakesWhatWasNotUsedForLong) {
  const std::string used = Store(Key("fp16"), 24h);
  const std::string unused = Store(Key("fp32"), 24h * 31);
  ASSERT_TRUE(cache_->StoreTimingCache(SampleKey(), std::string_view("timings")).ok());
  const std::string timings = "timing-" + TimingStem(SampleKey()) + ".cache";
  MakeOld(timings, 24h * 31);
  EXPECT_EQ(Prune(UnusedFor(24h * 32)), Names());
  EXPECT_EQ(Prune(DryRun(UnusedFor(24h * 30))), (Names{unused, timings}));
  EXPECT_EQ(Prune(UnusedFor(24h * 30)), (Names{unused, timings}));
  EXPECT_EQ(Left(), Names{used});
}

TEST_F(EnginePruneTest, TakesOtherVersionsOfTensorRt) {
  const std::string present = Store(Key("fp16"));
  const std::string other = Store(Key("fp16", "10.6.0.26"));
  EngineKey key = Key("fp16", "10.6.0.26");
  ASSERT_TRUE(cache_->StoreTimingCache(key, std::string_view("timings")).ok());
  const std::string timings = "timing-" + TimingStem(key) + ".cache";
  PruneRules rules;
  rules.tensorrt_version = "10.15.1.29";
  EXPECT_EQ(Prune(rules), (Names{other, timings}));
  EXPECT_EQ(Left(), Names{present});
}

TEST_F(EnginePruneTest, TheCallerDropsAndSpares) {
  const std::string half = Store(Key("fp16"), 1000h);
  const std::string full = Store(Key("fp32"), 1000h);
  const auto is_full = [](const EngineFile& file) { return file.header->key.precision == "fp32"; };
  PruneRules sparing = UnusedFor(1h);
  sparing.spare = is_full;
  EXPECT_EQ(Prune(DryRun(sparing)), Names{half});
  PruneRules dropping;
  dropping.drop = is_full;
  EXPECT_EQ(Prune(dropping), Names{full});
  EXPECT_EQ(Left(), Names{half});
}

TEST_F(EnginePruneTest, LeavesAloneWhatSomebodyBuilds) {
  const std::string name = Store(Key("fp16"), 1000h);
  WriteWhole(folder_ / (name + ".partial"), "half an engine");
  {
    const auto lock = cache_->Lock(Key("fp16"), Clock::now());
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(Prune(UnusedFor(1h)), Names());
  }
  EXPECT_EQ(Prune(UnusedFor(1h)), (Names{name, name + ".partial"}));
}

}  // namespace
}  // namespace lattice
