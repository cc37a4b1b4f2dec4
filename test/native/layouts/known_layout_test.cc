#include "native/layouts/known_layout.h"

#include <gtest/gtest.h>

#include <fstream>

#include "native/model/model_description.h"
#include "native/model/onnx_metadata.h"
#include "native/model/protobuf_wire.h"
#include "test/native/kept/temporary_folder.h"
#include "test/native/layouts/detr_writer.h"
#include "test/native/layouts/nanodet_writer.h"
#include "test/native/layouts/yolox_writer.h"

namespace lattice {
namespace {

struct Foreign {
  std::string file;
  std::string names;
  bool stretched;
  bool only_f32;
};

std::vector<Foreign> ForeignFiles() {
  std::string letters;
  for (int i = 0; i < test::kDetrClasses; ++i) letters += "'c" + std::to_string(i) + "',";
  return {{test::Yolox(), "['car', 'bus']", false, false},
          {test::Nanodet(), "['car', 'bus']", true, false},
          {test::Detr(test::DetrForm{}).File(), "[" + letters + "]", true, true}};
}

// A converted file can be loaded in the place of the export: engines find what they need in its
// metadata.
TEST(KnownLayoutTest, AModelIsTurnedOnceAndSaysWhatItIs) {
  const TemporaryFolder folder;
  for (Foreign& foreign : ForeignFiles()) {
    AppendMetadata(foreign.file, "names", foreign.names);
    const std::string path = folder / "foreign.onnx";
    std::ofstream(path, std::ios::binary) << foreign.file;
    const auto known = ReadInKnownLayout(path);
    ASSERT_TRUE(known.ok()) << known.status().message();
    EXPECT_NE(*known, foreign.file);
    auto info = DescribeMetadata(*ReadOnnxMetadata(BytesOf(*known)));
    ASSERT_TRUE(info.ok()) << info.status().message();
    EXPECT_EQ(info->stretched, foreign.stretched);
    EXPECT_EQ(info->only_f32, foreign.only_f32);
    EXPECT_EQ(InKnownLayout(*known, &*info), *known);
    EXPECT_EQ(info->stretched, foreign.stretched);
  }
}

TEST(KnownLayoutTest, AFileThatIsNoModelIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(ReadInKnownLayout(folder / "none.onnx").status().code(), StatusCode::kUnknownModel);
  const std::string path = folder / "nameless.onnx";
  std::ofstream(path, std::ios::binary) << test::Yolox();
  EXPECT_EQ(ReadInKnownLayout(path).status().code(), StatusCode::kInvalidModel);
}

}  // namespace
}  // namespace lattice
