#include "native/cuda/kernels/detection_kernels.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "test/native/cuda/gpu_test.h"
#include "test/native/cuda/kernels/random_heads.h"

namespace lattice {
namespace {

TEST(IsServed, LimitsAreThoseOfTheKernels) {
  EXPECT_TRUE(IsServed({1, 80, 8400}));
  EXPECT_TRUE(IsServed({32, kMostClasses, kMostAnchors}));
  EXPECT_FALSE(IsServed({1, kMostClasses + 1, 8400}));
  EXPECT_FALSE(IsServed({1, 80, kMostAnchors + 1}));
  EXPECT_FALSE(IsServed({0, 80, 8400}));
}

TEST(DetectionWorkspace, PartsDoNotOverlap) {
  const HeadShape shape{3, 80, 101};
  std::vector<uint64_t> memory(DetectionWorkspaceBytes(shape) / 8 + 1);
  const DetectionWorkspace workspace = LayOutWorkspace(memory.data(), shape);
  EXPECT_EQ(workspace.sorted - workspace.keys, 303);
  EXPECT_EQ(static_cast<void*>(workspace.counts), workspace.sorted + 303);
  EXPECT_LE(reinterpret_cast<char*>(workspace.counts + 3),
            reinterpret_cast<char*>(memory.data()) + DetectionWorkspaceBytes(shape));
}

class DetectionKernels : public GpuTest {
 protected:
  // `shares` has one entry for each image of the batch: how many of its anchors are candidates.
  void ExpectTheCpusResults(int classes, int anchors, const std::vector<double>& shares,
                            float confidence, std::mt19937& random) {
    const HeadShape shape{static_cast<int>(shares.size()), classes, anchors};
    std::vector<float> rows;
    std::vector<DeviceRequest> requests;
    std::vector<Detections> expected;
    for (const double share : shares) {
      const RandomHead head = MakeRandomHead(classes, anchors, share, 1000, random);
      DetectionOptions options = MakeRandomOptions(classes, random);
      options.confidence = confidence;
      const LetterboxTransform t = MakeRandomTransform(random);
      rows.insert(rows.end(), head.rows.begin(), head.rows.end());
      requests.push_back(MakeDeviceRequest(options, t));
      expected.push_back(DecodeDetections(head.rows.data(), classes, anchors, t, options));
    }
    const DeviceBuffer heads = Uploaded(rows);
    const DeviceBuffer asked = Uploaded(requests);
    const DeviceBuffer results = Allocated(shares.size() * sizeof(DeviceDetections));
    const DeviceBuffer memory = Allocated(DetectionWorkspaceBytes(shape));
    const DetectionWorkspace workspace = LayOutWorkspace(memory.data(), shape);
    ASSERT_EQ(ClearWorkspace(workspace, shape, stream().get()), cudaSuccess);
    ASSERT_EQ(LoadDetectionKernels(), cudaSuccess);
    const Result<Graph> graph = Graph::Capture(stream(), [&] {
      return ToStatus(LaunchDetections(heads.As<float>(), shape, asked.As<DeviceRequest>(),
                                       workspace, results.As<DeviceDetections>(), stream().get()),
                      "launching the detection kernels");
    });
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const Result<GraphExec> exec = GraphExec::Instantiate(*graph);
    ASSERT_TRUE(exec.ok());
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE(exec->Launch(stream()).ok());
      const auto found = Downloaded<DeviceDetections>(results);
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(DifferenceFromCpu(found[i], expected[i]), "") << "image " << i << ", run " << run;
      }
    }
  }
};

TEST_F(DetectionKernels, GiveTheCpusResultAtBatchOne) {
  std::mt19937 random(1);
  for (const double share : {0.0, 0.004, 0.03, 0.12, 0.13, 0.5, 1.0}) {
    ExpectTheCpusResults(80, 8400, {share}, 0.5f, random);
    ExpectTheCpusResults(4, 8400, {share}, 0.001f, random);
  }
}

TEST_F(DetectionKernels, ImagesOfABatchDoNotMix) {
  std::mt19937 random(2);
  ExpectTheCpusResults(80, 8400, {0.01, 0.0, 1.0, 0.1, 0.2, 0.02, 0.0, 0.5}, 0.5f, random);
  ExpectTheCpusResults(7, 1331, {0.3, 0.1, 0.9}, 0.25f, random);
}

TEST_F(DetectionKernels, LargestShapes) {
  std::mt19937 random(3);
  ExpectTheCpusResults(2, kMostAnchors, {1.0}, 0.001f, random);
  ExpectTheCpusResults(kMostClasses, 500, {0.5}, 0.25f, random);
}

TEST_F(DetectionKernels, RefuseWhatTheyCannotServe) {
  EXPECT_EQ(
      LaunchDetections(nullptr, {1, 80, kMostAnchors + 1}, nullptr, {}, nullptr, stream().get()),
      cudaErrorInvalidValue);
}

}  // namespace
}  // namespace lattice
