// How many slots' threads an image alone is to have.
#ifndef LATTICE_CPU_WIDE_SLOTS_H_
#define LATTICE_CPU_WIDE_SLOTS_H_

namespace lattice {

// The next larger share of the slots that divides all of them and is a multiple of `wide`; 0 where
// there is none.
constexpr int NextWideSlots(int slots, int wide) {
  for (int wider = 2 * wide; wider <= slots; wider += wide) {
    if (slots % wider == 0) return wider;
  }
  return 0;
}

// Whether a batch is to have `times` as many threads: two images one after the other must not take
// longer on average than side by side. On twice the threads that is 1.5 times as fast.
constexpr bool WiderPays(double ms, double wider_ms, int times) {
  const double one_after_the_other = wider_ms * (1 + times) / 2;
  return one_after_the_other <= ms;
}

}  // namespace lattice

#endif  // LATTICE_CPU_WIDE_SLOTS_H_
