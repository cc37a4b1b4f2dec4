#include "native/engine_cache/sealed_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "native/base/sha256.h"

namespace lattice {
namespace {

constexpr uint64_t kFormatVersion = 1;
constexpr size_t kMagicBytes = 8;
// Both checksums stand last, so that the second can cover everything in front of it.
constexpr size_t kPayloadDigestAt = 24;
constexpr size_t kHeaderDigestAt = 56;

void AppendNumber(uint64_t value, size_t bytes, std::string* out) {
  for (size_t i = 0; i < bytes; ++i) *out += static_cast<char>(value >> (8 * i) & 0xff);
}

uint64_t NumberAt(std::span<const char> bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

void AppendDigest(const Sha256Digest& digest, std::string* out) {
  for (const uint8_t byte : digest) *out += static_cast<char>(byte);
}

bool HasDigest(std::span<const char> seal, size_t at, const Sha256Digest& digest) {
  return std::equal(digest.begin(), digest.end(), seal.begin() + static_cast<std::ptrdiff_t>(at),
                    [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); });
}

Sha256Digest HeaderDigest(std::span<const char> seal, std::string_view text) {
  Sha256 sha;
  sha.Update(seal.first(kHeaderDigestAt));
  sha.Update(text);
  return sha.Finish();
}

// Reads on until the span is full or the file ends. The bytes read, or -errno.
ssize_t ReadAll(int fd, std::span<char> out, uint64_t offset) {
  size_t done = 0;
  while (done < out.size()) {
    const auto rest = out.subspan(done);
    const ssize_t got = pread(fd, rest.data(), rest.size(), static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

// One file on its way through the checks. Each step is false once the outcome is known.
class Reading {
 public:
  Reading(OpenedFile opened, const std::string& name)
      : fd_(std::move(opened.fd)), size_(opened.bytes), name_(name) {
    file_.state = opened.state;
    file_.reason = std::move(opened.reason);
    file_.bytes = opened.bytes;
    file_.last_used_s = opened.last_used_s;
  }

  bool Seal(std::string_view magic) {
    if (file_.state != FileState::kReady) return false;
    const size_t size = std::min<uint64_t>(size_, seal_.size());
    if (!Fill(std::span(seal_).first(size), 0)) return false;
    const std::string_view start(seal_.data(), std::min(size, kMagicBytes));
    if (start != magic.substr(0, start.size())) {
      file_.bytes = 0;
      return End(FileState::kForeign,
                 " was not written by lattice, so it is not used. Remove it from the engine "
                 "folder, or choose another folder.");
    }
    if (size < seal_.size()) return End(FileState::kDamaged, " is cut short.");
    if (NumberAt(seal_, 8, 4) == kFormatVersion) return true;
    return End(FileState::kStale, " has the format of another version of lattice.");
  }

  bool Header() {
    const uint64_t text_bytes = NumberAt(seal_, 12, 4);
    const uint64_t payload_bytes = NumberAt(seal_, 16, 8);
    if (text_bytes > kMaxHeaderTextBytes || text_bytes > size_ - kSealBytes) {
      return End(FileState::kDamaged, " is damaged in its header, or cut short.");
    }
    file_.text.resize(text_bytes);
    if (!Fill(file_.text, kSealBytes)) return false;
    if (!HasDigest(seal_, kHeaderDigestAt, HeaderDigest(seal_, file_.text))) {
      return End(FileState::kDamaged, " is damaged in its header.");
    }
    if (payload_bytes == size_ - kSealBytes - text_bytes) return true;
    return End(FileState::kDamaged, " has not the length that its header tells.");
  }

  bool Payload() {
    file_.payload.resize(NumberAt(seal_, 16, 8));
    if (!Fill(file_.payload, kSealBytes + file_.text.size())) return false;
    if (HasDigest(seal_, kPayloadDigestAt, Sha256Of(file_.payload))) return true;
    return End(FileState::kDamaged, " is damaged: its checksum does not match.");
  }

  Result<SealedFile> Outcome() && {
    if (!error_.ok()) return error_;
    if (file_.state != FileState::kReady) {
      file_.text.clear();
      file_.payload = {};
    }
    return std::move(file_);
  }

 private:
  bool End(FileState state, const char* what) {
    file_.state = state;
    file_.reason = name_ + what;
    return false;
  }

  bool Fill(std::span<char> out, uint64_t offset) {
    const ssize_t got = ReadAll(fd_.get(), out, offset);
    if (got < 0) {
      error_ = Status(StatusCode::kInternalError,
                      name_ + " cannot be read: " +
                          std::generic_category().message(static_cast<int>(-got)) + ".");
      return false;
    }
    if (static_cast<size_t>(got) == out.size()) return true;
    return End(FileState::kDamaged, " became shorter while it was read.");
  }

  ScopedFd fd_;
  uint64_t size_;
  const std::string& name_;
  std::array<char, kSealBytes> seal_{};
  SealedFile file_;
  Status error_;
};

}  // namespace

std::string SealOf(std::string_view magic, std::string_view text, std::span<const char> payload) {
  std::string seal(magic);
  AppendNumber(kFormatVersion, 4, &seal);
  AppendNumber(text.size(), 4, &seal);
  AppendNumber(payload.size(), 8, &seal);
  AppendDigest(Sha256Of(payload), &seal);
  AppendDigest(HeaderDigest(seal, text), &seal);
  seal += text;
  return seal;
}

Result<SealedFile> ReadSealed(const PrivateFolder& folder, const std::string& name,
                              std::string_view magic, SealedPart part) {
  auto opened = folder.OpenFile(name);
  if (!opened.ok()) return opened.status();
  Reading reading(*std::move(opened), name);
  if (reading.Seal(magic) && reading.Header() && part == SealedPart::kWhole) reading.Payload();
  return std::move(reading).Outcome();
}

Status WriteSealed(const PrivateFolder& folder, const std::string& name, std::string_view magic,
                   std::string_view text, std::span<const char> payload) {
  const auto present = ReadSealed(folder, name, magic, SealedPart::kHeader);
  if (present.ok() && present->state == FileState::kForeign) {
    return {StatusCode::kInternalError, present->reason};
  }
  const std::string seal = SealOf(magic, text, payload);
  const std::array<std::span<const char>, 2> parts = {std::span<const char>(seal), payload};
  return folder.Replace(name, parts);
}

}  // namespace lattice
