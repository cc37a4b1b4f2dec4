#include "native/image/jpeg_extent.h"

#include <algorithm>
#include <optional>
#include <string>

#include "native/image/decode.h"
#include "native/image/jpeg_markers.h"
#include "native/image/jpeg_scan.h"

namespace lattice {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr int kProgressive = 2;
constexpr int kMostFactor = 4;
constexpr uint64_t kAllCoefficients = ~uint64_t{0};

int RoundedUp(int value, int divisor) { return (value + divisor - 1) / divisor; }

class PictureReader {
 public:
  Result<size_t> Read(Bytes bytes) {
    size_t at = 0;
    if (jpeg::NextMarker(bytes, &at) != jpeg::kStartOfImage) return Damaged("");
    size_t end = 0;
    while (!complete()) {
      const int marker = jpeg::NextMarker(bytes, &at);
      if (marker == jpeg::kEndOfImage && end > 0) break;
      if (marker < 0 || marker == jpeg::kEndOfImage) return CutShort();
      if (jpeg::HasNoLength(marker)) continue;
      const auto segment = jpeg::NextSegment(bytes, &at);
      if (!segment) return CutShort();
      if (marker == jpeg::kStartOfScan) {
        const std::optional<JpegScan> scan = ScanOf(*segment);
        if (!scan) return CutShort();
        if (const auto wrong = ReadJpegScan(bytes, &at, frame_, *scan)) return Damaged(*wrong);
        ++scans_;
        MarkComplete(*scan);
        end = at;
      } else if (!ReadTables(marker, *segment)) {
        return CutShort();
      }
    }
    return end;
  }

 private:
  bool complete() const {
    return !frame_.components.empty() &&
           std::all_of(frame_.components.begin(), frame_.components.end(),
                       [](const auto& each) { return each.complete == kAllCoefficients; });
  }

  Status Damaged(const std::string& how) const {
    std::string text = "the JPEG data is damaged or cut short";
    if (how.empty()) return {StatusCode::kInvalidImage, text};
    const bool several = frame_.progressive || scans_ > 0;
    text += several ? ": in scan " + std::to_string(scans_ + 1) + ", " : ": ";
    return {StatusCode::kInvalidImage, text + how};
  }

  // The fault of a file that ends between scans, or before the first one.
  Status CutShort() const {
    if (frame_.height == 0) return Damaged("");
    return Damaged(FirstRowsReadable(0, frame_.height));
  }

  bool ReadTables(int marker, Bytes segment) {
    if (jpeg::IsFrameHeader(marker) && frame_.components.empty()) {
      return ReadFrame(marker, segment);
    }
    if (marker == jpeg::kRestartInterval) {
      if (segment.size() < 2) return false;
      restart_interval_ = jpeg::BigEndian16(segment, 0);
    }
    while (marker == jpeg::kHuffmanTables && !segment.empty()) {
      const int kind = segment[0] >> 4;
      const size_t number = segment[0] & 15;
      if (kind > 1 || number > 3) return false;
      const size_t bytes = (kind == 0 ? tables_.dc : tables_.ac)[number].Define(segment.subspan(1));
      if (bytes == 0) return false;
      segment = segment.subspan(1 + bytes);
    }
    return true;
  }

  bool ReadFrame(int marker, Bytes segment) {
    if (segment.size() < 6 || segment.size() < 6 + size_t{3} * segment[5]) return false;
    frame_.height = jpeg::BigEndian16(segment, 1);
    frame_.width = jpeg::BigEndian16(segment, 3);
    frame_.progressive = marker - 0xC0 == kProgressive;
    if (marker - 0xC0 > kProgressive || segment[5] < 1 || segment[5] > 4) return false;
    frame_.components.resize(segment[5]);
    for (size_t i = 0; i < frame_.components.size(); ++i) {
      JpegComponent& component = frame_.components[i];
      component.id = segment[6 + 3 * i];
      component.across = segment[7 + 3 * i] >> 4;
      component.down = segment[7 + 3 * i] & 15;
      const auto [least, most] = std::minmax(component.across, component.down);
      if (least < 1 || most > kMostFactor) return false;
      frame_.most_across = std::max(frame_.most_across, component.across);
      frame_.most_down = std::max(frame_.most_down, component.down);
    }
    for (JpegComponent& component : frame_.components) Measure(component);
    return true;
  }

  void Measure(JpegComponent& component) const {
    const int unit_width = 8 * frame_.most_across;
    const int unit_height = 8 * frame_.most_down;
    component.columns = RoundedUp(frame_.width * component.across, unit_width);
    component.rows = RoundedUp(frame_.height * component.down, unit_height);
    component.stride = RoundedUp(frame_.width, unit_width) * component.across;
    if (!frame_.progressive) return;
    const int rows = RoundedUp(frame_.height, unit_height) * component.down;
    component.filled.resize(static_cast<size_t>(component.stride) * static_cast<size_t>(rows));
  }

  std::optional<JpegScan> ScanOf(Bytes segment) {
    if (segment.empty() || segment.size() < size_t{4} + size_t{2} * segment[0]) return std::nullopt;
    JpegScan scan;
    const size_t count = segment[0];
    for (size_t i = 0; i < count; ++i) {
      const int id = segment[1 + 2 * i];
      const uint8_t tables = segment[2 + 2 * i];
      const auto component = std::find_if(frame_.components.begin(), frame_.components.end(),
                                          [&](const JpegComponent& each) { return each.id == id; });
      if (component == frame_.components.end()) return std::nullopt;
      // Numbers above 3 stand where a scan uses no such table; elsewhere the decoder refuses them.
      scan.parts.push_back({&*component, &tables_.dc[tables >> 4 & 3], &tables_.ac[tables & 3]});
    }
    if (frame_.progressive) {
      scan.first = segment[1 + 2 * count];
      scan.last = segment[2 + 2 * count];
      scan.high = segment[3 + 2 * count] >> 4;
      scan.low = segment[3 + 2 * count] & 15;
    }
    scan.restart_interval = restart_interval_;
    const bool of_ac = scan.first > 0;
    const bool valid = count > 0 && scan.first <= scan.last && scan.last < 64 &&
                       (!of_ac || count == 1) && (of_ac || !frame_.progressive || scan.last == 0);
    return valid ? std::optional(scan) : std::nullopt;
  }

  static void MarkComplete(const JpegScan& scan) {
    if (scan.low > 0) return;
    for (const JpegScan::Part& part : scan.parts) {
      for (int k = scan.first; k <= scan.last; ++k) part.component->complete |= uint64_t{1} << k;
    }
  }

  JpegFrame frame_;
  HuffmanTables tables_;
  int restart_interval_ = 0;
  int scans_ = 0;
};

}  // namespace

Result<size_t> FindJpegEnd(Bytes bytes) { return PictureReader().Read(bytes); }

}  // namespace lattice
