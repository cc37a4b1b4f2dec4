// The library with the builder's kernels. Here it only has to be found.
extern "C" __attribute__((visibility("default"))) int getNbCaskKLibs_INTERNAL() { return 0; }
