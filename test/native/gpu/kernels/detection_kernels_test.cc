#include "native/gpu/kernels/detection_kernels.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "test/native/gpu/cuda/gpu_test.h"
#include "test/native/gpu/kernels/random_heads.h"

namespace lattice {
namespace {

// Tolerance of a score, and 1e-3 pixels: for the last bits of a GPU's exponential. On an H200 sides
// differed by 2e-4 pixels.
constexpr float kTolerance = 1e-5f;

TEST(IsServed, LimitsAreThoseOfTheKernels) {
  EXPECT_TRUE(IsServed(80, 8400));
  EXPECT_TRUE(IsServed(kMostClasses, kMostAnchors));
  EXPECT_FALSE(IsServed(kMostClasses + 1, 8400));
  EXPECT_FALSE(IsServed(80, kMostAnchors + 1));
  EXPECT_FALSE(IsServed(80, 0));
}

TEST(DetectionWorkspace, PartsDoNotOverlap) {
  std::vector<uint64_t> memory(DetectionWorkspaceBytes(3, 101) / 8 + 1);
  const DetectionWorkspace workspace = LayOutWorkspace(memory.data(), 3, 101);
  EXPECT_EQ(workspace.sorted - workspace.keys, 303);
  EXPECT_EQ(static_cast<void*>(workspace.counts), workspace.sorted + 303);
  EXPECT_LE(reinterpret_cast<char*>(workspace.counts + 3),
            reinterpret_cast<char*>(memory.data()) + DetectionWorkspaceBytes(3, 101));
}

class DetectionKernels : public GpuTest {
 protected:
  // `shares` has one entry for each image of the batch: how many of its anchors are candidates.
  void ExpectTheCpusResults(const HeadKind& kind, const Grids& grids,
                            const std::vector<double>& shares, float confidence,
                            std::mt19937& random) {
    std::array<std::vector<Half>, kHeadScales> boxes, classes;
    std::vector<DeviceRequest> requests;
    std::vector<Detections> expected;
    for (const double share : shares) {
      const RandomHead head = MakeRandomHead(kind, grids, share, 1000, random);
      DetectionOptions options = MakeRandomOptions(kind.classes, random);
      options.confidence = confidence;
      const LetterboxTransform t = MakeRandomTransform(random);
      for (size_t i = 0; i < kHeadScales; ++i) {
        boxes[i].insert(boxes[i].end(), head.boxes[i].begin(), head.boxes[i].end());
        classes[i].insert(classes[i].end(), head.classes[i].begin(), head.classes[i].end());
      }
      requests.push_back(MakeDeviceRequest(options, t));
      expected.push_back(head.DecodedByCpu(t, options));
    }
    std::vector<DeviceBuffer> tensors;
    std::array<const Half*, kHeadScales> boxes_there, classes_there;
    for (size_t i = 0; i < kHeadScales; ++i) {
      boxes_there[i] = tensors.emplace_back(Uploaded(boxes[i])).As<Half>();
      classes_there[i] = tensors.emplace_back(Uploaded(classes[i])).As<Half>();
    }
    const DeviceHead head = RandomHead(kind, grids).On(boxes_there, classes_there);
    const int batch = static_cast<int>(shares.size());
    const DeviceBuffer asked = Uploaded(requests);
    const DeviceBuffer results = Allocated(shares.size() * sizeof(DeviceDetections));
    const DeviceBuffer memory = Allocated(DetectionWorkspaceBytes(batch, head.anchors()));
    const DetectionWorkspace workspace = LayOutWorkspace(memory.data(), batch, head.anchors());
    ASSERT_EQ(ClearWorkspace(workspace, batch, stream().get()), cudaSuccess);
    ASSERT_EQ(LoadDetectionKernels(), cudaSuccess);
    const Result<Graph> graph = Graph::Capture(stream(), [&] {
      return ToStatus(LaunchDetections(head, batch, asked.As<DeviceRequest>(), workspace,
                                       results.As<DeviceDetections>(), stream().get()),
                      "launching the detection kernels");
    });
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE(graph->Launch(stream()).ok());
      const auto found = Downloaded<DeviceDetections>(results);
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(DifferenceFromCpu(found[i], expected[i], kTolerance), "")
            << "image " << i << ", run " << run;
      }
    }
  }
};

TEST_F(DetectionKernels, GiveTheCpusResultAtBatchOne) {
  std::mt19937 random(1);
  for (const bool one_to_one : {false, true}) {
    for (const double share : {0.0, 0.004, 0.03, 0.12, 0.13, 0.5, 0.99}) {
      ExpectTheCpusResults({80, kDflBins, one_to_one}, kGrids640, {share}, 0.5f, random);
      ExpectTheCpusResults({4, 1, one_to_one}, kGrids640, {share}, 0.001f, random);
    }
  }
}

TEST_F(DetectionKernels, ImagesOfABatchDoNotMix) {
  std::mt19937 random(2);
  ExpectTheCpusResults({80, kDflBins, false}, kGrids640,
                       {0.01, 0.0, 0.99, 0.1, 0.2, 0.02, 0.0, 0.5}, 0.5f, random);
  ExpectTheCpusResults({7, 1, true}, GridsOf(1331), {0.3, 0.1, 0.9}, 0.25f, random);
}

TEST_F(DetectionKernels, LargestShapes) {
  std::mt19937 random(3);
  ExpectTheCpusResults({2, 1, false}, GridsOf(kMostAnchors), {0.99}, 0.001f, random);
  ExpectTheCpusResults({kMostClasses, 1, false}, GridsOf(500), {0.5}, 0.25f, random);
}

TEST_F(DetectionKernels, RefuseWhatTheyCannotServe) {
  const DeviceHead head = RandomHead({80, 1, false}, GridsOf(kMostAnchors + 1)).OnHost();
  EXPECT_EQ(LaunchDetections(head, 1, nullptr, {}, nullptr, stream().get()), cudaErrorInvalidValue);
  const DeviceHead served = RandomHead({80, 1, false}, GridsOf(100)).OnHost();
  EXPECT_EQ(LaunchDetections(served, 0, nullptr, {}, nullptr, stream().get()),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace lattice
