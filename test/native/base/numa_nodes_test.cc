#include "native/base/numa_nodes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace lattice {
namespace {

using Cpus = std::vector<int>;

// A made-up /sys.
class NumaNodesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "lattice-numa-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void WriteNode(int id, const std::string& cpus) {
    Write("devices/system/node/node" + std::to_string(id) + "/cpulist", cpus);
  }

  std::string root_;
};

TEST_F(NumaNodesTest, NodesHaveTheirCpus) {
  Write("devices/system/node/online", "0-1\n");
  WriteNode(0, "0-3,8-11\n");
  WriteNode(1, "4-7,12-15\n");
  const NumaNodes numa(root_);
  const auto nodes = numa.List();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].cpus, (Cpus{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(nodes[1].id, 1);
  EXPECT_TRUE(numa.Several());
}

TEST_F(NumaNodesTest, NodesOfMemoryAloneAreLeftOut) {
  Write("devices/system/node/online", "0,2");
  WriteNode(0, "0-7");
  WriteNode(2, "");
  const NumaNodes numa(root_);
  ASSERT_EQ(numa.List().size(), 1u);
  EXPECT_FALSE(numa.Several());
}

TEST_F(NumaNodesTest, AKernelThatSaysNothingHasNoNodes) {
  const NumaNodes numa(root_);
  EXPECT_TRUE(numa.List().empty());
  EXPECT_FALSE(numa.Several());
  EXPECT_EQ(numa.OfPciDevice("0000:17:00.0"), -1);
}

TEST_F(NumaNodesTest, ADeviceIsNearTheNodeThatTheKernelNames) {
  Write("bus/pci/devices/0000:17:00.0/numa_node", "0\n");
  Write("bus/pci/devices/0001:ca:00.0/numa_node", "3\n");
  Write("bus/pci/devices/0000:65:00.0/numa_node", "-1\n");
  Write("bus/pci/devices/0000:66:00.0/numa_node", "near\n");
  const NumaNodes numa(root_);
  EXPECT_EQ(numa.OfPciDevice("0000:17:00.0"), 0);
  EXPECT_EQ(numa.OfPciDevice("0001:ca:00.0"), 3);
  EXPECT_EQ(numa.OfPciDevice("0000:65:00.0"), -1);
  EXPECT_EQ(numa.OfPciDevice("0000:66:00.0"), -1);
}

TEST(CurrentNumaNodeTest, IsANodeOfThisMachine) {
  const int node = CurrentNumaNode();
  const auto nodes = NumaNodes().List();
  if (nodes.empty()) {
    EXPECT_GE(node, 0);
    return;
  }
  std::set<int> ids;
  for (const NumaNode& each : nodes) ids.insert(each.id);
  EXPECT_TRUE(ids.contains(node)) << node;
}

TEST(ParseCpuListTest, TextsOfAnotherShapeGiveNone) {
  EXPECT_EQ(ParseCpuList("7"), (Cpus{7}));
  EXPECT_EQ(ParseCpuList("0-2,1-3"), (Cpus{0, 1, 2, 3}));
  for (const char* text : {"", "x", "1-", "3-1", "1,", ",1", "1;2", "0-99999999", "-1", "1 "}) {
    EXPECT_TRUE(ParseCpuList(text).empty()) << text;
  }
}

TEST(ParseCpuListTest, ReadsWhatTheKernelWrites) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::set<int> drawn;
    for (auto i = random() % 40 + 1; i > 0; --i) drawn.insert(static_cast<int>(random() % 60));
    const Cpus cpus(drawn.begin(), drawn.end());
    std::string text;
    for (size_t i = 0; i < cpus.size();) {
      size_t end = i;
      while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
      if (!text.empty()) text += ',';
      text += std::to_string(cpus[i]);
      if (end > i) text += '-' + std::to_string(cpus[end]);
      i = end + 1;
    }
    EXPECT_EQ(ParseCpuList(text), cpus) << text;
  }
}

}  // namespace
}  // namespace lattice
