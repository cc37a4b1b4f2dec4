#include "native/engine_cache/sealed_file.h"

#include <gtest/gtest.h>

#include <random>

#include "native/engine_cache/engine_header.h"
#include "test/native/engine_cache/engine_folder.h"

namespace lattice {
namespace {

class SealedFileTest : public testing::Test {
 protected:
  SealedFileTest() : folder_(*PrivateFolder::Open(above_.path())) {}

  SealedFile Read(SealedPart part = SealedPart::kWhole) {
    auto file = ReadSealed(folder_, "a", kEngineMagic, part);
    EXPECT_TRUE(file.ok()) << file.status().message();
    return file.ok() ? *std::move(file) : SealedFile();
  }

  std::string Sealed() {
    EXPECT_TRUE(WriteSealed(folder_, "a", kEngineMagic, text_, payload_).ok());
    return ReadWhole(above_ / "a");
  }

  TemporaryFolder above_;
  PrivateFolder folder_;
  std::string text_ = "one=1\ntwo=2\n";
  std::string payload_ = std::string("pay\0load", 8) + std::string(100, 'p');
};

TEST_F(SealedFileTest, ComesBack) {
  EXPECT_EQ(Read().state, FileState::kAbsent);
  const std::string bytes = Sealed();
  EXPECT_EQ(bytes.size(), kSealBytes + text_.size() + payload_.size());
  const SealedFile file = Read();
  EXPECT_EQ(file.state, FileState::kReady);
  EXPECT_EQ(file.text, text_);
  EXPECT_EQ(std::string(file.payload.begin(), file.payload.end()), payload_);
  EXPECT_EQ(file.bytes, bytes.size());
  const SealedFile header = Read(SealedPart::kHeader);
  EXPECT_EQ(header.state, FileState::kReady);
  EXPECT_EQ(header.text, text_);
  EXPECT_TRUE(header.payload.empty());
}

TEST_F(SealedFileTest, MayHoldNothing) {
  text_ = payload_ = "";
  EXPECT_EQ(Sealed().size(), kSealBytes);
  EXPECT_EQ(Read().state, FileState::kReady);
}

TEST_F(SealedFileTest, NoChangedByteIsAccepted) {
  const std::string bytes = Sealed();
  std::mt19937 random(5);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    WriteWhole(above_ / "a", changed);
    const SealedFile file = Read();
    const FileState expected = at < 8    ? FileState::kForeign
                               : at < 12 ? FileState::kStale
                                         : FileState::kDamaged;
    EXPECT_EQ(file.state, expected) << at;
    EXPECT_EQ(file.reason.find("a "), 0u) << file.reason;
    EXPECT_TRUE(file.text.empty() && file.payload.empty()) << at;
    // The header alone is sound while only the payload changed.
    const bool in_payload = at >= kSealBytes + text_.size();
    EXPECT_EQ(Read(SealedPart::kHeader).state, in_payload ? FileState::kReady : expected) << at;
  }
}

TEST_F(SealedFileTest, NoOtherLengthIsAccepted) {
  const std::string bytes = Sealed();
  for (size_t size = 0; size < bytes.size(); ++size) {
    WriteWhole(above_ / "a", bytes.substr(0, size));
    EXPECT_EQ(Read().state, FileState::kDamaged) << size;
    EXPECT_EQ(Read(SealedPart::kHeader).state, FileState::kDamaged) << size;
  }
  WriteWhole(above_ / "a", bytes + "x");
  EXPECT_EQ(Read().state, FileState::kDamaged);
}

TEST_F(SealedFileTest, RandomBytesAreNeverAccepted) {
  std::mt19937 random(9);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // Half of them look right at the start.
    if (round % 2 == 0) bytes = std::string(kEngineMagic) + std::string("\1\0\0\0", 4) + bytes;
    WriteWhole(above_ / "a", bytes);
    EXPECT_NE(Read().state, FileState::kReady) << round;
  }
}

TEST_F(SealedFileTest, AnotherKindOfFileIsForeignAndStays) {
  for (const std::string& bytes : {std::string("#!/bin/sh\n"), std::string("L!")}) {
    WriteWhole(above_ / "a", bytes);
    EXPECT_EQ(Read().state, FileState::kForeign);
    const Status status = WriteSealed(folder_, "a", kEngineMagic, text_, payload_);
    EXPECT_EQ(status.code(), StatusCode::kInternalError);
    EXPECT_NE(status.message().find("a was not written by lattice"), std::string::npos);
    EXPECT_EQ(ReadWhole(above_ / "a"), bytes);
  }
  std::filesystem::remove(above_ / "a");
  ASSERT_TRUE(WriteSealed(folder_, "a", kTimingMagic, text_, payload_).ok());
  EXPECT_EQ(Read().state, FileState::kForeign);
}

TEST_F(SealedFileTest, WhatIsDamagedIsReplaced) {
  for (const std::string& bytes : {std::string(), Sealed().substr(0, 60)}) {
    WriteWhole(above_ / "a", bytes);
    Sealed();
    EXPECT_EQ(Read().state, FileState::kReady);
  }
}

// src/models/engine-file.ts is tested with the same file. A mismatch means that the
// layout has changed: raise the format version, and take the bytes that this test leaves.
TEST_F(SealedFileTest, TheSampleOfBothReadersIsWhatIsWritten) {
  const EngineHeader header = SampleHeader();
  const std::string plan = "the plan of an engine";
  const std::string name = KeyStem(header.key) + ".engine";
  const std::string written = SealOf(kEngineMagic, HeaderText(header), plan) + plan;
  if (written == ReadWhole(LATTICE_SOURCE_DIR "/test/support/engines/" + name)) return;
  const std::string left = testing::TempDir() + name;
  WriteWhole(left, written);
  FAIL() << "test/support/engines/" << name << " differs from " << left;
}

}  // namespace
}  // namespace lattice
