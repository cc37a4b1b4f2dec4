#!/usr/bin/env bash
# Everything that only a machine with a GPU can show, in one command:
#
#   scripts/gpu-check.sh [OUT]      OUT: folder for the results, by default build/gpu-check
#
# Steps that ended well are not run again: started once more after a time limit, it goes on where it was cut off.
# Ends with 0 when every step passed; each step's output is OUT/STEP.log.
set -u
cd "$(dirname "$0")/.."
out=${1:-build/gpu-check}
mkdir -p "$out"
failed=()

step() {
  local name=$1
  shift
  if [ -e "$out/$name.passed" ]; then
    echo "== $name: passed before"
    return
  fi
  echo "== $name"
  local start=$SECONDS
  if "$@" >"$out/$name.log" 2>&1; then
    touch "$out/$name.passed"
    echo "== $name: passed ($((SECONDS - start)) s)"
  else
    failed+=("$name")
    echo "== $name: FAILED ($((SECONDS - start)) s), the end of $out/$name.log:"
    tail -n 20 "$out/$name.log"
  fi
}

# The kernels and owners under one of compute-sanitizer's tools.
sanitized() {
  compute-sanitizer --tool "$1" --error-exitcode 1 build/test/native/lattice_gpu_test
}

which_gpu() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
  node -e 'const { gpus } = require("./build/Release/lattice.node"); const found = gpus();
    console.log(found); process.exitCode = found.missing === null ? 0 : 1;'
}

step setup npm run setup
step build node scripts/build-native.mjs --tests
step gpu which_gpu
step tests npm run test:gpu
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck; do step "$tool" sanitized "$tool"; done
else
  echo "== sanitizer: left out, compute-sanitizer is not installed"
fi
step parity npm run parity -- --fp16

if [ "${#failed[@]}" -gt 0 ]; then
  echo "Failed: ${failed[*]}"
  exit 1
fi
echo "Everything passed. Results: $out"
