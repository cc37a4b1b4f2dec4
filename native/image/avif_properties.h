// What an AVIF says about its colour planes, without decoding it.
#ifndef LATTICE_IMAGE_AVIF_PROPERTIES_H_
#define LATTICE_IMAGE_AVIF_PROPERTIES_H_

#include <cstdint>
#include <optional>
#include <span>

namespace lattice {

// MatrixCoefficients of ITU-T H.273.
inline constexpr int kMatrixBt709 = 1;
inline constexpr int kMatrixUnspecified = 2;
inline constexpr int kMatrixBt470Bg = 5;
inline constexpr int kMatrixBt601 = 6;

struct AvifProperties {
  bool halved_chroma = false;  // 4:2:0, and so is every other picture in the file that has colours
  bool full_range = true;      // as long as no picture says otherwise
  bool eight_bit = true;       // every picture in the file that has colours
  bool turned = false;         // the decoder turns or mirrors (irot, imir)
  bool cropped = false;        // the decoder cuts out a part (clap)
  // kMatrixUnspecified where the file names none, nothing where its pictures disagree.
  std::optional<int> matrix = kMatrixUnspecified;
};

// Of all pictures in the file together, not of the shown one alone: thumbnails, tiles and alpha
// planes count, which errs towards claiming less. What follows a damaged box is left out.
// Thread-safe.
AvifProperties ParseAvifProperties(std::span<const uint8_t> bytes);

}  // namespace lattice

#endif  // LATTICE_IMAGE_AVIF_PROPERTIES_H_
