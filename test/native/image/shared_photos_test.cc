// Files that others made: every one decodes or is refused with a reason, and both JPEG decoders
// agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "native/image/decode.h"
#include "native/image/jpeg_header.h"
#include "native/image/turbojpeg_decode.h"
#include "native/image/vips_decode.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = fs::path(LATTICE_SOURCE_DIR) / ".." / "shared" / "testdata";

std::vector<uint8_t> BytesOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> FilesBeneath(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int64_t ResidentKib() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statm >> total >> resident;
  return resident * 4;
}

class SharedPhotos : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kShared)) GTEST_SKIP() << "no shared test data at " << kShared;
  }
};

TEST_F(SharedPhotos, OddFilesDecodeOrSayWhyNot) {
  int decoded = 0;
  for (const fs::path& file : FilesBeneath(kShared / "odd")) {
    const auto start = std::chrono::steady_clock::now();
    const Result<Image> image = Decode(BytesOf(file), {});
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << file;
    if (image.ok()) {
      ++decoded;
      EXPECT_EQ(image->data.size(), static_cast<size_t>(3) * static_cast<size_t>(image->width) *
                                        static_cast<size_t>(image->height))
          << file;
    } else {
      const StatusCode code = image.status().code();
      EXPECT_TRUE(code == StatusCode::kInvalidImage || code == StatusCode::kImageTooLarge ||
                  code == StatusCode::kUnsupportedImageFormat)
          << file << ": " << image.status().message();
    }
  }
  EXPECT_GE(decoded, 55);
}

TEST_F(SharedPhotos, OrientedTwinsShowTheSamePicture) {
  // Eight recordings of two scenes; lossy, so turned blocks differ a little.
  const auto check = [](const std::string& prefix, const std::string& extra, int width) {
    for (const char orientation : extra) {
      const Result<Image> image =
          Decode(BytesOf(kShared / "odd" / ("sharp-" + prefix + orientation + ".jpg")), {});
      ASSERT_TRUE(image.ok());
      EXPECT_EQ(image->width, width) << prefix << orientation;
    }
  };
  check("Landscape_", "2468", 600);
  check("Portrait_", "1357", 450);
}

// Its four tiles are pictures of their own and come first in the file.
TEST_F(SharedPhotos, ThePrimaryPictureOfAnAvifIsTheOneDecoded) {
  const Result<Image> image = Decode(BytesOf(kShared / "odd" / "sharp-pitm.avif"), {});
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->width, 4096);
  EXPECT_EQ(image->height, 800);
}

TEST_F(SharedPhotos, MemoryIsGivenBack) {
  const std::vector<fs::path> files = FilesBeneath(kShared / "odd");
  const auto decode_all = [&] {
    for (const fs::path& file : files) (void)Decode(BytesOf(file), {}).ok();
  };
  decode_all();
  decode_all();
  const int64_t before = ResidentKib();
  for (int round = 0; round < 4; ++round) decode_all();
  EXPECT_LT(ResidentKib() - before, 24 * 1024);
}

TEST_F(SharedPhotos, BothJpegDecodersGiveTheSamePixels) {
  if (TurboJpegName().empty()) GTEST_SKIP() << "built without libjpeg-turbo";
  ASSERT_TRUE(StartVips().ok());
  int compared = 0;
  for (const fs::path& file : FilesBeneath(kShared)) {
    if (file.extension() != ".jpg" && file.extension() != ".jpeg") continue;
    const std::vector<uint8_t> bytes = BytesOf(file);
    const std::optional<JpegHeader> header = ParseJpegHeader(bytes);
    if (!header || !CheckSize(header->width, header->height, {12'000'000, 16'384}).ok()) continue;
    const std::optional<Image> fast =
        DecodeByTurboJpeg(bytes, *header, std::pmr::get_default_resource());
    if (!fast) continue;
    Result<StoredImage> general =
        DecodeByVips(bytes, ImageFormat::kJpeg, {}, std::pmr::get_default_resource());
    ASSERT_TRUE(general.ok()) << file;
    EXPECT_EQ(general->exif_orientation, header->exif_orientation) << file;
    EXPECT_TRUE(fast->data == general->image.data) << file;
    ++compared;
  }
  EXPECT_GE(compared, 150);
}

}  // namespace
}  // namespace lattice
