// Linked into every test of a sanitized build: what the libraries of others need to run under a
// sanitizer.
#include <dlfcn.h>

// tbbbind is loaded with RTLD_DEEPBIND, at which the sanitizers stop the process. A symbol of the
// executable comes before the sanitizer's own.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int mode) {
  using Dlopen = void* (*)(const char*, int);
  static const auto next = reinterpret_cast<Dlopen>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, mode & ~RTLD_DEEPBIND);
}

// The death tests of the crash marker watch these signals arrive.
#define LATTICE_SIGNALS_LEFT_ALONE \
  "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0"

extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return LATTICE_SIGNALS_LEFT_ALONE;
}

extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return LATTICE_SIGNALS_LEFT_ALONE;
}

// Kept until the process ends, on purpose, by the inference library.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libtbbbind\nleak:libhwloc\nleak:libopenvino\nleak:libtbb\nleak:libglib\nleak:"
         "libvips\n";
}

// Built without instrumentation, so the sanitizer does not see how these order their memory.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:libopenvino\nrace:libtbb\nrace:libvips\n";
}
