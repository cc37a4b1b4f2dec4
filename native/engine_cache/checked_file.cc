#include "native/engine_cache/checked_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "native/base/scoped_fd.h"
#include "native/engine_cache/crc32.h"

namespace lattice {
namespace {

constexpr uint32_t kFormatVersion = 2;

struct Preamble {
  std::array<char, 8> magic{};
  uint32_t version = kFormatVersion;
  uint32_t text_bytes = 0;
  uint64_t payload_bytes = 0;
  uint32_t payload_crc = 0;
  uint32_t header_crc = 0;
};
static_assert(sizeof(Preamble) == 32 && std::endian::native == std::endian::little);

std::span<const char> BytesOf(const Preamble& preamble) {
  return {reinterpret_cast<const char*>(&preamble), sizeof preamble};
}

uint32_t HeaderCrc(const Preamble& preamble, std::string_view text) {
  return Crc32(text, Crc32(BytesOf(preamble).first(offsetof(Preamble, header_crc))));
}

// False where the file ends before the span is full, or cannot be read.
bool ReadAll(int fd, std::span<char> out) {
  while (!out.empty()) {
    const ssize_t got = read(fd, out.data(), out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out = out.subspan(static_cast<size_t>(got));
  }
  return true;
}

bool WriteAll(int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

bool IsOurs(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

std::optional<CheckedFile> ReadCheckedFile(const std::string& path, std::string_view magic) {
  // Without O_NONBLOCK a FIFO would keep the open waiting for a writer.
  const ScopedFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info;
  if (fd.get() < 0 || fstat(fd.get(), &info) != 0 || !IsOurs(info)) return std::nullopt;
  Preamble preamble;
  if (!ReadAll(fd.get(), {reinterpret_cast<char*>(&preamble), sizeof preamble}) ||
      std::string_view(preamble.magic.data(), preamble.magic.size()) != magic ||
      preamble.version != kFormatVersion) {
    return std::nullopt;
  }
  const uint64_t rest = static_cast<uint64_t>(info.st_size) - sizeof preamble;
  if (preamble.text_bytes > rest || preamble.payload_bytes != rest - preamble.text_bytes) {
    return std::nullopt;
  }
  CheckedFile file{std::string(preamble.text_bytes, '\0'),
                   std::vector<char>(preamble.payload_bytes)};
  if (!ReadAll(fd.get(), file.text) || HeaderCrc(preamble, file.text) != preamble.header_crc ||
      !ReadAll(fd.get(), file.payload) || Crc32(file.payload) != preamble.payload_crc) {
    return std::nullopt;
  }
  // In a folder that is only readable the last use stays unknown.
  (void)futimens(fd.get(), nullptr);
  return file;
}

Status WriteCheckedFile(const std::string& path, std::string_view magic, std::string_view text,
                        std::span<const char> payload) {
  Preamble preamble;
  std::memcpy(preamble.magic.data(), magic.data(), preamble.magic.size());
  preamble.text_bytes = static_cast<uint32_t>(text.size());
  preamble.payload_bytes = payload.size();
  preamble.payload_crc = Crc32(payload);
  preamble.header_crc = HeaderCrc(preamble, text);
  const std::string partial = path + ".partial";
  (void)unlink(partial.c_str());  // of a build that was killed
  ScopedFd fd(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // Some file systems report a full disk only when the file is closed.
  if (fd.get() >= 0 && WriteAll(fd.get(), BytesOf(preamble)) && WriteAll(fd.get(), text) &&
      WriteAll(fd.get(), payload) && fsync(fd.get()) == 0 && close(fd.Release()) == 0 &&
      std::rename(partial.c_str(), path.c_str()) == 0) {
    return {};
  }
  const std::string reason = std::generic_category().message(errno);
  (void)unlink(partial.c_str());
  return {StatusCode::kInternalError,
          std::filesystem::path(path).filename().string() + " cannot be stored: " + reason + "."};
}

}  // namespace lattice
