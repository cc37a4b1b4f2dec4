#include "native/cpu/openvino_network.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "native/cpu/cpu_precision.h"
#include "test/native/kept/temporary_folder.h"
#include "test/native/model/head_writer.h"
#include "test/native/model/onnx_writer.h"

namespace lattice {
namespace {

const std::string kTiny = LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx";
const std::string kBundled = LATTICE_SOURCE_DIR "/models/vehicles-v8n.onnx";
const std::string kEightBit = LATTICE_SOURCE_DIR "/models/vehicles-v8n.int8.onnx";
const std::string kShared = LATTICE_SOURCE_DIR "/../shared/testdata/models/";

#define SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: there is no " << (path)

std::unique_ptr<OpenVinoNetwork> Load(const std::string& path,
                                      EngineOptions options = {"f32", 2, {2, 2}, {3}}) {
  auto loaded = OpenVinoNetwork::Load(path, options);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

InputSize OwnSize(const OpenVinoNetwork& engine) {
  return {engine.info().input_width, engine.info().input_height};
}

size_t FloatsOf(InputSize size) { return size_t{3} * static_cast<size_t>(size.area()); }
size_t InputFloats(const OpenVinoNetwork& engine) { return FloatsOf(OwnSize(engine)); }

// All numbers, one after the other.
std::vector<float> NumbersOf(const Head& head, const HeadOutput& output) {
  std::vector<float> numbers;
  const auto append = [&](const float* first, int rows, int columns) {
    numbers.insert(numbers.end(), first, first + ptrdiff_t{rows} * columns);
  };
  if (head.layout == HeadLayout::kFinal) append(output.rows, output.count, 6);
  if (head.layout == HeadLayout::kRows) append(output.rows, 4 + head.classes, output.count);
  if (head.layout != HeadLayout::kScales) return numbers;
  for (const ScaleView<float>& scale : output.scales) {
    append(scale.boxes, 4 * head.bins, scale.cells);
    append(scale.classes, head.classes, scale.cells);
  }
  return numbers;
}

std::vector<float> Noise(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random() % 256) / 255.0f;
  return values;
}

std::vector<float> RunOne(OpenVinoNetwork& engine, int slot, const float* input, InputSize size,
                          WorkClass work_class = WorkClass::kSync, Width width = Width::kWide) {
  NetworkItem item{input, size};
  const Status status = engine.Run(work_class, slot, width, {&item, 1});
  EXPECT_TRUE(status.ok()) << status.message();
  return NumbersOf(engine.info().head, item.output);
}

std::vector<float> RunOne(OpenVinoNetwork& engine, int slot, const std::vector<float>& input,
                          WorkClass work_class = WorkClass::kSync) {
  return RunOne(engine, slot, input.data(), OwnSize(engine), work_class);
}

TEST(OpenVinoNetworkTest, DescribesTheTinyModel) {
  const auto engine = Load(kTiny);
  ASSERT_NE(engine, nullptr);
  const ModelInfo& info = engine->info();
  EXPECT_EQ(info.names, (std::vector<std::string>{"car", "motorcycle", "bus", "truck"}));
  EXPECT_EQ(info.input_width, 640);
  EXPECT_EQ(info.head.layout, HeadLayout::kRows);
  EXPECT_EQ(info.anchors, 8400);
  EXPECT_EQ(info.device, "CPU");
  EXPECT_EQ(info.precision, "f32");
  EXPECT_EQ(info.metadata.at("task"), "detect");
  EXPECT_EQ(engine->slots(WorkClass::kSync), 2);
  EXPECT_EQ(engine->slots(WorkClass::kAsync), 3);
  EXPECT_EQ(engine->max_batch(), 1);
  EXPECT_FALSE(OpenVinoVersion().empty());
}

TEST(OpenVinoNetworkTest, OutputIsBitEqualWhateverLaneSlotAlignmentAndOrder) {
  const auto engine = Load(kTiny);
  const auto input = Noise(InputFloats(*engine), 1);
  const auto expected = RunOne(*engine, 0, input);
  std::vector<float> shifted(input.size() + 1);
  std::memcpy(shifted.data() + 1, input.data(), input.size() * sizeof(float));
  EXPECT_EQ(RunOne(*engine, 1, shifted.data() + 1, OwnSize(*engine)), expected);
  RunOne(*engine, 0, Noise(input.size(), 2));
  EXPECT_EQ(RunOne(*engine, 0, input), expected);
  for (int slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(RunOne(*engine, slot, input, WorkClass::kAsync), expected);
  }
}

TEST(OpenVinoNetworkTest, RefusesWhatIsMissingEmptyOrDamaged) {
  EXPECT_EQ(OpenVinoNetwork::Load("/nonexistent.onnx", {}).status().code(),
            StatusCode::kUnknownModel);
  EXPECT_EQ(OpenVinoNetwork::Load("/tmp", {}).status().code(), StatusCode::kInvalidModel);
  const std::string path = testing::TempDir() + "model-" + std::to_string(getpid()) + ".onnx";
  std::ofstream(path, std::ios::binary).close();
  EXPECT_EQ(OpenVinoNetwork::Load(path, {}).status().message(), "The model file is empty.");

  std::ifstream file(kTiny, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const size_t size : {whole.size() / 2, whole.size() - 1}) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    EXPECT_EQ(OpenVinoNetwork::Load(path, {}).status().code(), StatusCode::kInvalidModel) << size;
  }
  // The outer message stays whole, the graph inside does not.
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 40; ++i)
      damaged[random() % (damaged.size() / 2)] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << damaged;
    const auto engine = OpenVinoNetwork::Load(path, {});
    if (!engine.ok()) {
      EXPECT_EQ(engine.status().code(), StatusCode::kInvalidModel);
      EXPECT_EQ(engine.status().message().find(path), std::string::npos);
    }
  }
  unlink(path.c_str());
}

EngineOptions KeptIn(const std::string& folder) {
  EngineOptions options{"f32", 2, {2, 2}, {2}};
  options.kept_folder = folder;
  return options;
}

std::vector<std::string> NetworksIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".network") paths.push_back(entry.path());
  }
  return paths;
}

TEST(OpenVinoNetworkTest, AKeptNetworkIsAsOneThatIsCompiled) {
  for (const std::string& path : {kTiny, kBundled, kEightBit}) {
    const TemporaryFolder folder;
    const auto compiled = Load(path, KeptIn(folder.path()));
    ASSERT_EQ(NetworksIn(folder.path()).size(), 1u) << path;
    const auto written = std::filesystem::file_size(NetworksIn(folder.path())[0]);
    const auto kept = Load(path, KeptIn(folder.path()));
    ASSERT_EQ(NetworksIn(folder.path()).size(), 1u) << path;
    EXPECT_EQ(std::filesystem::file_size(NetworksIn(folder.path())[0]), written);
    const ModelInfo& one = compiled->info();
    const ModelInfo& other = kept->info();
    EXPECT_EQ(one.head.layout, other.head.layout);
    EXPECT_EQ(one.head.strides, other.head.strides);
    EXPECT_EQ(one.anchors, other.anchors);
    EXPECT_EQ(one.rectangles, other.rectangles);
    EXPECT_EQ(one.precision, other.precision);
    EXPECT_EQ(one.metadata, other.metadata);
    EXPECT_EQ(OwnSize(*compiled), OwnSize(*kept));
    const auto input = Noise(InputFloats(*compiled), 4);
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      EXPECT_EQ(RunOne(*kept, 0, input, work_class), RunOne(*compiled, 0, input, work_class));
    }
  }
}

// By name, of the threads whose priority is lower than that of this one.
std::set<std::string> LowerThreads() {
  const int own = getpriority(PRIO_PROCESS, 0);
  std::set<std::string> names;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const auto id = static_cast<id_t>(std::stoul(task.path().filename()));
    std::string name;
    std::ifstream comm(task.path() / "comm");
    if (std::getline(comm, name) && getpriority(PRIO_PROCESS, id) > own) names.insert(name);
  }
  return names;
}

TEST(OpenVinoNetworkTest, ALoadBesideOthersLowersOnlyThreadsOfAsyncBatches) {
  constexpr int kLowestPriority = 19;
  if (getpriority(PRIO_PROCESS, 0) == kLowestPriority) {
    GTEST_SKIP() << "The process has the lowest priority: no thread can have a lower one.";
  }
  const TemporaryFolder folder;
  EngineOptions alone{"f32", 2, {2, 2}, {3}};
  alone.async_yields = false;
  const auto first = Load(kBundled, alone);
  EngineOptions beside = KeptIn(folder.path());
  beside.beside_others = true;
  for (const bool yields : {true, false}) {
    beside.async_yields = yields;
    // The second one is kept.
    const auto second = Load(kBundled, beside);
    EXPECT_EQ(LowerThreads(),
              yields ? std::set<std::string>{"lattice-async"} : std::set<std::string>{});
    const auto input = Noise(InputFloats(*first), 4);
    for (const WorkClass work_class : {WorkClass::kSync, WorkClass::kAsync}) {
      EXPECT_EQ(RunOne(*second, 0, input, work_class), RunOne(*first, 0, input, work_class));
    }
  }
}

TEST(OpenVinoNetworkTest, AnotherPrecisionOrFileIsAnotherKeptNetwork) {
  const TemporaryFolder folder;
  ASSERT_NE(Load(kTiny, KeptIn(folder.path())), nullptr);
  const std::string copy = folder / "tiny-v8.onnx";
  std::filesystem::copy_file(kTiny, copy);
  ASSERT_NE(Load(copy, KeptIn(folder.path())), nullptr);
  EXPECT_EQ(NetworksIn(folder.path()).size(), 1u);
  // Another model in the place of the first.
  std::filesystem::copy_file(kBundled, copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Load(copy, KeptIn(folder.path()))->info().head.layout, HeadLayout::kScales);
  EXPECT_EQ(NetworksIn(folder.path()).size(), 2u);
  EngineOptions listed = KeptIn(folder.path());
  listed.rectangles = std::vector<InputSize>{};
  EXPECT_TRUE(Load(copy, listed)->info().rectangles.empty());
  EXPECT_FALSE(Load(copy, KeptIn(folder.path()))->info().rectangles.empty());
}

TEST(OpenVinoNetworkTest, ADamagedNetworkIsCompiledAnewAndAnUnusableFolderIsNone) {
  const TemporaryFolder folder;
  const auto input = Noise(size_t{3} * 640 * 640, 5);
  const auto expected = RunOne(*Load(kTiny, KeptIn(folder.path())), 0, input);
  const std::string path = NetworksIn(folder.path())[0];
  const auto whole = static_cast<double>(std::filesystem::file_size(path));
  for (const size_t size : {size_t{0}, size_t{10}, size_t{200}, static_cast<size_t>(whole / 2)}) {
    std::filesystem::resize_file(path, size);
    EXPECT_EQ(RunOne(*Load(kTiny, KeptIn(folder.path())), 0, input), expected) << size;
    // The library numbers its nodes anew, with more or fewer digits.
    EXPECT_NEAR(static_cast<double>(std::filesystem::file_size(path)), whole, 0.1 * whole) << size;
  }
  EXPECT_EQ(RunOne(*Load(kTiny, KeptIn("/nonexistent/folder")), 0, input), expected);
}

std::string Saved(const std::string& model) {
  const std::string path = testing::TempDir() + "written-" + std::to_string(getpid()) + ".onnx";
  std::ofstream(path, std::ios::binary) << model;
  return path;
}

const std::map<std::string, std::string> kTwoClasses = {{"names", "{0: 'a', 1: 'b'}"}};

TEST(OpenVinoNetworkTest, FixedBatchesAreFilledUpAndTakenApart) {
  const auto engine = Load(Saved(test::ReshapeModel({4, 3, 32, 32}, {4, 6, 512}, kTwoClasses)));
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->info().fixed_batch, 4);
  EXPECT_EQ(engine->max_batch(), 4);
  for (size_t count = 1; count <= 4; ++count) {
    std::vector<std::vector<float>> inputs;
    std::vector<NetworkItem> items;
    for (size_t i = 0; i < count; ++i)
      inputs.push_back(Noise(3 * 32 * 32, static_cast<unsigned>(i)));
    for (const auto& input : inputs) items.push_back({input.data(), {32, 32}});
    ASSERT_TRUE(engine->Run(WorkClass::kSync, 0, Width::kWide, items).ok());
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(NumbersOf(engine->info().head, items[i].output), inputs[i]);
    }
  }
}

TEST(OpenVinoNetworkTest, OpenSidesTakeTheSizeOfTheMetadata) {
  auto metadata = kTwoClasses;
  metadata["imgsz"] = "[64, 32]";
  const auto engine = Load(Saved(test::ReshapeModel({-1, 3, -1, -1}, {0, 6, -1}, metadata)));
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->info().input_height, 64);
  EXPECT_EQ(engine->info().input_width, 32);
  EXPECT_EQ(engine->info().anchors, 3 * 64 * 32 / 6);
  EXPECT_EQ(engine->info().fixed_batch, 0);
}

EngineOptions At(std::optional<std::vector<InputSize>> rectangles) {
  EngineOptions options{"f32", 2, {}, {}};
  options.rectangles = std::move(rectangles);
  return options;
}

TEST(OpenVinoNetworkTest, ExportsWithOpenSidesRunAtEverySmallerInput) {
  const auto engine = Load(kBundled, At(std::nullopt));
  ASSERT_NE(engine, nullptr);
  const ModelInfo& info = engine->info();
  EXPECT_EQ(info.head.layout, HeadLayout::kScales);
  EXPECT_TRUE(info.any_rectangle);
  for (const InputSize size : {InputSize{640, 384}, {32, 640}, {480, 640}, {640, 640}, {640, 32}}) {
    const auto input = Noise(FloatsOf(size), 6);
    NetworkItem item{input.data(), size};
    ASSERT_TRUE(engine->Run(WorkClass::kSync, 0, Width::kWide, {&item, 1}).ok());
    for (size_t i = 0; i < kHeadScales; ++i) {
      const int stride = info.head.strides[i];
      EXPECT_EQ(item.output.scales[i].columns, size.width / stride);
      EXPECT_EQ(item.output.scales[i].cells, size.width / stride * (size.height / stride));
    }
    // Whatever ran before, and in the other class.
    const auto once = RunOne(*engine, 0, input.data(), size);
    EXPECT_EQ(RunOne(*engine, 0, input.data(), size, WorkClass::kAsync), once);
    RunOne(*engine, 0, Noise(FloatsOf({320, 640}), 7).data(), {320, 640});
    EXPECT_EQ(RunOne(*engine, 0, input.data(), size), once);
  }
}

TEST(OpenVinoNetworkTest, ImagesOnOneShareOfTheThreadsAreComputedAsOnAll) {
  const auto engine = Load(kBundled, {"f32", 2, {2, 2}, {}});
  ASSERT_NE(engine, nullptr);
  const std::vector<InputSize> sizes{{640, 384}, {448, 640}};
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<float>> expected;
  for (size_t i = 0; i < 2; ++i) {
    inputs.push_back(Noise(FloatsOf(sizes[i]), static_cast<unsigned>(i)));
    expected.push_back(RunOne(*engine, 0, inputs[i].data(), sizes[i]));
  }
  // Side by side; a slot sees both sizes and both widths.
  std::vector<std::thread> threads;
  for (int slot = 0; slot <= 1; ++slot) {
    threads.emplace_back([&, slot] {
      for (size_t round = 0; round < 4; ++round) {
        const size_t i = (round + static_cast<size_t>(slot)) % 2;
        EXPECT_EQ(
            RunOne(*engine, slot, inputs[i].data(), sizes[i], WorkClass::kSync, Width::kOneShare),
            expected[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(RunOne(*engine, 1, inputs[0].data(), sizes[0]), expected[0]);
}

TEST(OpenVinoNetworkTest, AWideBatchHasAsManySlotsAsPayAndGivesTheSameNumbers) {
  const auto engine = Load(kTiny, {"f32", 8, {4, 2}, {2}});
  ASSERT_NE(engine, nullptr);
  const int wide = engine->wide_slots(WorkClass::kSync);
  EXPECT_TRUE(wide == 2 || wide == 4) << wide;
  EXPECT_EQ(engine->wide_slots(WorkClass::kAsync), 1);
  const auto input = Noise(InputFloats(*engine), 3);
  const auto run = [&](int slot, Width width) {
    return RunOne(*engine, slot, input.data(), OwnSize(*engine), WorkClass::kSync, width);
  };
  const auto expected = run(0, Width::kWide);
  for (int slot = 0; slot < 4; ++slot) {
    EXPECT_EQ(run(slot, Width::kOneShare), expected) << slot;
    if (slot % wide == 0) {
      EXPECT_EQ(run(slot, Width::kWide), expected) << slot;
    }
  }
}

TEST(OpenVinoNetworkTest, AnInputIsComputedAlikeWithOpenAndWithClosedSides) {
  const auto open = Load(kBundled, At(std::nullopt));
  const auto closed = Load(kBundled, At(std::vector<InputSize>{}));
  EXPECT_TRUE(closed->info().rectangles.empty());
  const auto input = Noise(InputFloats(*open), 8);
  const auto one = RunOne(*open, 0, input);
  const auto other = RunOne(*closed, 0, input);
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(one[i], other[i], 2e-3) << i;
}

TEST(OpenVinoNetworkTest, RunsAtTheRectanglesOfAList) {
  for (const std::string& path : {kBundled, kShared + "yolov8n.onnx"}) {
    if (!std::filesystem::exists(path)) {
      std::cout << "left out: there is no " << path << "\n";
      continue;
    }
    const auto engine = Load(path, At({{{480, 640}, {640, 384}, {640, 32}, {640, 384}}}));
    ASSERT_NE(engine, nullptr);
    EXPECT_EQ(engine->info().rectangles,
              (std::vector<InputSize>{{640, 32}, {640, 384}, {480, 640}}));
    EXPECT_TRUE(engine->info().without.empty());
    const auto input = Noise(FloatsOf({640, 384}), 6);
    NetworkItem item{input.data(), {640, 384}};
    ASSERT_TRUE(engine->Run(WorkClass::kSync, 0, Width::kWide, {&item, 1}).ok());
    EXPECT_EQ(item.output.scales[2].cells, 20 * 12);
  }
}

TEST(OpenVinoNetworkTest, ExportsWithFixedSidesRunAtTheirOwnInput) {
  SKIP_WITHOUT(kShared + "yolov8n.onnx");
  const auto engine = Load(kShared + "yolov8n.onnx", At(std::nullopt));
  EXPECT_EQ(engine->info().head.layout, HeadLayout::kScales);
  EXPECT_TRUE(engine->info().rectangles.empty());
  EXPECT_TRUE(engine->info().without.empty());
}

TEST(OpenVinoNetworkTest, RefusesRectanglesThatItCannotRunAt) {
  const auto refusal = [](const std::string& path, InputSize size) {
    const auto loaded = OpenVinoNetwork::Load(path, At({{size}}));
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_TRUE((*loaded)->info().rectangles.empty());
    return (*loaded)->info().without.at(0);
  };
  EXPECT_NE(refusal(kBundled, {640, 640}).find("is not larger"), std::string::npos);
  EXPECT_NE(refusal(kBundled, {672, 384}).find("is not larger"), std::string::npos);
  EXPECT_NE(refusal(kBundled, {640, 390}).find("multiples of 32"), std::string::npos);
  EXPECT_EQ(refusal(kBundled, {320, 320}),
            "The model cannot run at 320 x 320: one side must be that of its own input, 640 x 640, "
            "or no photo lies in it as large as there.");
  EXPECT_EQ(refusal(kTiny, {640, 384}),
            "The model cannot run at 640 x 384: its sides are fixed, and the end of the network is "
            "not one of those that are known.");
  const auto fixed = Saved(test::ReshapeModel({4, 3, 64, 32}, {4, 6, 1024}, kTwoClasses));
  EXPECT_NE(refusal(fixed, {32, 32}).find("its batch is fixed"), std::string::npos);
}

// Boxes of the network's numbers for noise.
std::vector<Detection> BoxesOf(OpenVinoNetwork& engine) {
  const auto input = Noise(InputFloats(engine), 9);
  NetworkItem item{input.data(), OwnSize(engine)};
  EXPECT_TRUE(engine.Run(WorkClass::kSync, 0, Width::kWide, {&item, 1}).ok());
  const LetterboxTransform same = ComputeLetterbox(OwnSize(engine).width, OwnSize(engine).height,
                                                   OwnSize(engine).width, OwnSize(engine).height);
  return FindBoxes(engine.info().head, item.output, same, {}).boxes;
}

TEST(OpenVinoNetworkTest, ACutNetworkFindsTheBoxesOfTheWholeOne) {
  for (const bool one_to_one : {false, true}) {
    test::HeadOptions options;
    options.one_to_one = one_to_one;
    const auto cut = Load(Saved(test::HeadWriter(options).Model()));
    ASSERT_NE(cut, nullptr);
    EXPECT_EQ(cut->info().head.layout, HeadLayout::kScales);
    options.reads_image = true;
    const auto whole = Load(Saved(test::HeadWriter(options).Model()));
    ASSERT_NE(whole, nullptr);
    EXPECT_EQ(whole->info().head.layout, one_to_one ? HeadLayout::kFinal : HeadLayout::kRows);
    const auto found = BoxesOf(*cut);
    const auto expected = BoxesOf(*whole);
    EXPECT_GT(found.size(), 10u);
    ASSERT_EQ(found.size(), expected.size());
    for (const Detection& box : expected) {
      EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const Detection& other) {
        return std::abs(box.x1 - other.x1) < 1e-2 && std::abs(box.y2 - other.y2) < 1e-2 &&
               std::abs(box.score - other.score) < 1e-5 && box.class_id == other.class_id;
      })) << box.score;
    }
  }
}

TEST(OpenVinoNetworkTest, HalfPrecisionPortsAreTakenAsFloats) {
  constexpr int kFloat16 = 10;
  const auto engine =
      Load(Saved(test::ReshapeModel({1, 3, 32, 32}, {1, 6, 512}, kTwoClasses, kFloat16)));
  ASSERT_NE(engine, nullptr);
  const auto input = Noise(3 * 32 * 32, 5);
  const auto output = RunOne(*engine, 0, input);
  for (size_t i = 0; i < input.size(); ++i) ASSERT_NEAR(output[i], input[i], 1e-3);
}

TEST(OpenVinoNetworkTest, LevelsAsBytesAreTheSamePicture) {
  for (const int batch : {1, 4}) {
    test::HeadOptions options;
    options.batch = batch;
    const auto by_floats = Load(Saved(test::HeadWriter(options).Model()));
    options.rounds_image = true;
    const auto by_bytes = Load(Saved(test::HeadWriter(options).Model()));
    ASSERT_TRUE(by_floats != nullptr && by_bytes != nullptr);
    EXPECT_FALSE(by_floats->info().byte_input);
    ASSERT_TRUE(by_bytes->info().byte_input);
    const std::vector<float> floats = Noise(InputFloats(*by_floats), 6);
    std::vector<uint8_t> levels(floats.size() + 1);
    // Once in place and once where the network cannot use them.
    for (const size_t shift : {size_t{0}, size_t{1}}) {
      for (size_t i = 0; i < floats.size(); ++i) {
        levels[i + shift] = static_cast<uint8_t>(std::lround(255 * floats[i]));
      }
      NetworkItem item{levels.data() + shift, OwnSize(*by_bytes)};
      ASSERT_TRUE(by_bytes->Run(WorkClass::kSync, 0, Width::kWide, {&item, 1}).ok());
      const auto found = NumbersOf(by_bytes->info().head, item.output);
      const auto expected = RunOne(*by_floats, 0, floats);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], 1e-3) << i << ", batch " << batch;
      }
    }
  }
}

TEST(OpenVinoNetworkTest, RefusesWrongShapesAndTypes) {
  constexpr int kUint8 = 2;
  const auto refusal = [](const std::string& model) {
    const auto engine = OpenVinoNetwork::Load(Saved(model), {});
    EXPECT_EQ(engine.status().code(), StatusCode::kInvalidModel);
    return engine.status().message();
  };
  using test::ReshapeModel;
  EXPECT_NE(refusal(ReshapeModel({1, 3, 32, 32}, {1, 96, 32}, kTwoClasses)).find("[1, 96, 32]"),
            std::string::npos);
  EXPECT_NE(refusal(ReshapeModel({1, 1, 96, 32}, {1, 6, -1}, kTwoClasses)).find("[1, 1, 96, 32]"),
            std::string::npos);
  EXPECT_NE(refusal(ReshapeModel({1, 3, 32, 32}, {1, 6, 512}, {})).find("names"),
            std::string::npos);
  EXPECT_NE(
      refusal(ReshapeModel({1, 3, 32, 32}, {1, 6, 512}, kTwoClasses, kUint8)).find("floating"),
      std::string::npos);
  EXPECT_NE(
      refusal(ReshapeModel({1, 3, 32, 32}, {1, 7, 512}, kTwoClasses)).find("cannot be loaded"),
      std::string::npos);
}

TEST(OpenVinoNetworkTest, SignedQuantisationNeedsOpset13) {
  test::HeadOptions options;
  options.quantised = true;
  options.is_signed = true;
  EXPECT_NE(Load(Saved(test::HeadWriter(options).Model())), nullptr);
  options.opset = 12;
  const auto refused = OpenVinoNetwork::Load(Saved(test::HeadWriter(options).Model()), {});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidModel);
  EXPECT_NE(refused.status().message().find("opset 13"), std::string::npos);
}

TEST(OpenVinoNetworkTest, F32IsNotBf16) {
  SKIP_WITHOUT(kShared + "yolov8n.onnx");
  const auto bf16 = UsesBf16("bf16");
  if (!bf16.ok()) GTEST_SKIP() << "left out: " << bf16.status().message();
  const auto exact = Load(kShared + "yolov8n.onnx");
  const auto fast = Load(kShared + "yolov8n.onnx", {"bf16", 2, {}, {}});
  const auto input = Noise(InputFloats(*exact), 4);
  EXPECT_EQ(fast->info().precision, "bf16");
  EXPECT_NE(RunOne(*exact, 0, input), RunOne(*fast, 0, input));
  NetworkItem a{input.data(), OwnSize(*exact)};
  NetworkItem b = a;
  ASSERT_TRUE(exact->Run(WorkClass::kSync, 0, Width::kWide, {&a, 1}).ok());
  ASSERT_TRUE(fast->Run(WorkClass::kSync, 0, Width::kWide, {&b, 1}).ok());
  for (size_t i = 0; i < kHeadScales; ++i) {
    for (int cell = 0; cell < a.output.scales[i].cells; ++cell) {
      for (int c = 0; c < 80; ++c) {
        ASSERT_NEAR(Sigmoid(a.output.scales[i].Logit(c, cell)),
                    Sigmoid(b.output.scales[i].Logit(c, cell)), 0.05);
      }
    }
  }
}

TEST(OpenVinoNetworkTest, LoadsPublicDetectorsAndRefusesOtherTasks) {
  SKIP_WITHOUT(kShared);
  EXPECT_EQ(Load(kShared + "yolov8n.onnx")->info().fixed_batch, 0);
  EXPECT_EQ(Load(kShared + "yolov8n-uint8.onnx")->info().fixed_batch, 1);
  EXPECT_EQ(Load(kShared + "kitti-3class-int8.onnx")->info().names.back(), "Cyclist");
  for (const char* name : {"yolov8n-seg-uint8.onnx", "yolov8n-pose-uint8.onnx"}) {
    const auto refused = OpenVinoNetwork::Load(kShared + name, {});
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidModel);
    EXPECT_NE(refused.status().message().find("task"), std::string::npos);
  }
}

}  // namespace
}  // namespace lattice
