#include "native/scheduler/decode_cpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace lattice {
namespace {

using Cpus = std::vector<int>;

Cpus Range(int first, int count) {
  Cpus cpus(static_cast<size_t>(count));
  std::iota(cpus.begin(), cpus.end(), first);
  return cpus;
}

const std::vector<NumaNode> kTwo = {{0, Range(0, 4)}, {1, Range(4, 4)}};

TEST(DecodeCpusTest, OneNodeChangesNothing) {
  EXPECT_TRUE(DecodeCpus(4, {{0, Range(0, 8)}}, Range(0, 8), {0}).empty());
  EXPECT_TRUE(DecodeCpus(4, {}, Range(0, 8), {0}).empty());
}

TEST(DecodeCpusTest, WhereNoGpusNodeIsKnownNothingIsBound) {
  EXPECT_TRUE(DecodeCpus(4, kTwo, Range(0, 8), {-1}).empty());
  EXPECT_TRUE(DecodeCpus(4, kTwo, Range(0, 8), {}).empty());
  EXPECT_TRUE(DecodeCpus(4, kTwo, Range(0, 8), {7}).empty());
}

TEST(DecodeCpusTest, AProcessThatMayUseOneNodeOnlyIsLeftAlone) {
  EXPECT_TRUE(DecodeCpus(4, kTwo, Range(4, 4), {1}).empty());
}

TEST(DecodeCpusTest, TheGpusNodeIsFilledFirst) {
  const auto cpus_of = DecodeCpus(6, kTwo, Range(0, 8), {1});
  ASSERT_EQ(cpus_of.size(), 6u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(cpus_of[i], kTwo[1].cpus) << i;
  for (size_t i = 4; i < 6; ++i) EXPECT_EQ(cpus_of[i], kTwo[0].cpus) << i;
}

TEST(DecodeCpusTest, GpusOnBothNodesShareTheThreads) {
  const auto cpus_of = DecodeCpus(4, kTwo, Range(0, 8), {0, 1});
  EXPECT_EQ(std::count(cpus_of.begin(), cpus_of.end(), kTwo[0].cpus), 2);
  EXPECT_EQ(std::count(cpus_of.begin(), cpus_of.end(), kTwo[1].cpus), 2);
}

TEST(DecodeCpusTest, OnlyAllowedCpusAreUsed) {
  const auto cpus_of = DecodeCpus(3, kTwo, {0, 1, 6}, {1});
  ASSERT_EQ(cpus_of.size(), 3u);
  EXPECT_EQ(cpus_of[0], Cpus{6});
  EXPECT_EQ(cpus_of[1], (Cpus{0, 1}));
}

// No CPU gets a second thread while another has none, and GPUs' nodes go first.
TEST(DecodeCpusTest, IsFairForAnyMachine) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<NumaNode> nodes;
    std::vector<int> gpu_nodes;
    int cpus = 0;
    for (int id = 0; id < static_cast<int>(random() % 4) + 2; ++id) {
      const int count = static_cast<int>(random() % 6) + 1;
      nodes.push_back({id, Range(cpus, count)});
      cpus += count;
      if (id == 0 || random() % 2 == 0) gpu_nodes.push_back(id);
    }
    const int threads = static_cast<int>(random() % 40);
    const auto cpus_of = DecodeCpus(threads, nodes, Range(0, cpus), gpu_nodes);
    ASSERT_EQ(cpus_of.size(), static_cast<size_t>(threads));
    std::map<Cpus, int> threads_of;
    for (const Cpus& cpus : cpus_of) ++threads_of[cpus];
    int beside_gpus = 0;
    int gpu_cpus = 0;
    for (const NumaNode& node : nodes) {
      const int count = static_cast<int>(node.cpus.size());
      const int used = threads_of[node.cpus];
      if (threads <= cpus) {
        EXPECT_LE(used, count);
      }
      // Within one thread a CPU of the even share.
      EXPECT_LE(used, std::max(count, (threads * count + cpus - 1) / cpus + count));
      if (std::find(gpu_nodes.begin(), gpu_nodes.end(), node.id) == gpu_nodes.end()) continue;
      beside_gpus += used;
      gpu_cpus += count;
    }
    EXPECT_GE(beside_gpus, std::min(threads, gpu_cpus));
  }
}

}  // namespace
}  // namespace lattice
