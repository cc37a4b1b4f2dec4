#!/usr/bin/env bash
# Everything that only a machine with a GPU can show, in one command:
#
#   scripts/gpu-check.sh [OUT]      OUT: folder for the results, by default build/gpu-check
#
# Ends within LATTICE_GPU_CHECK_SECONDS (520 unless set): what does not fit is cut off or left out, and said so.
# Started once more, it goes on there: steps that ended well are not run again, answered questions of the benchmark
# are not asked again, and built engines are kept in LATTICE_ENGINE_CACHE_DIR (build/engines unless set).
# Ends with 0 when every step passed, 1 when one failed, 3 when there is more to do. OUT holds each step's output as
# STEP.log, the benchmark's figures and charts in bench/, and what is printed here in summary.txt.
set -u
cd "$(dirname "$0")/.."
mkdir -p "${1:-build/gpu-check}" build
out=$(cd "${1:-build/gpu-check}" && pwd)
budget=${LATTICE_GPU_CHECK_SECONDS:-520}
export LATTICE_ENGINE_CACHE_DIR=${LATTICE_ENGINE_CACHE_DIR:-$PWD/build/engines}
least=$((budget / 30)) # seconds: no step is begun with as little
failed=()
unfinished=()
: >"$out/summary.txt"

say() { echo "$*" | tee -a "$out/summary.txt"; }

left() { echo $((budget - SECONDS)); }

leave_out() {
  unfinished+=("$1")
  say "== $1: left out, $2"
}

# step NAME COMMAND...: COMMAND ends with 3 when there is more to do.
step() {
  local name=$1
  shift
  if [ -e "$out/$name.passed" ]; then
    say "== $name: passed before"
    return
  fi
  if [ "$(left)" -le "$least" ]; then
    leave_out "$name" "$(left) s of $budget are left"
    return
  fi
  say "== $name"
  local start=$SECONDS
  timeout --kill-after=5 "$(left)" "$@" >"$out/$name.log" 2>&1
  local code=$?
  local took="$((SECONDS - start)) s"
  case $code in
    0)
      touch "$out/$name.passed"
      say "== $name: passed ($took)"
      ;;
    3 | 124 | 137)
      unfinished+=("$name")
      say "== $name: cut off ($took)"
      ;;
    *)
      failed+=("$name")
      say "== $name: FAILED ($took), the end of $name.log:"
      tail -n 20 "$out/$name.log" | tee -a "$out/summary.txt"
      ;;
  esac
}

end() {
  [ "${#unfinished[@]}" -gt 0 ] && say "Not done: ${unfinished[*]}. Start it again to go on."
  [ "${#failed[@]}" -gt 0 ] && say "Failed: ${failed[*]}"
  say "Results: $out"
  [ "${#failed[@]}" -gt 0 ] && exit 1
  [ "${#unfinished[@]}" -gt 0 ] && exit 3
  exit 0
}

which_gpu='nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
node -e '\''const { gpus } = require("./build/Release/lattice.node"); const found = gpus();
  console.log(found); process.exitCode = found.missing === null ? 0 : 1;'\'

step setup npm run setup
step build node scripts/build-native.mjs --tests
rm -f "$out/gpu.passed" # a later run may be on another machine
step gpu bash -c "$which_gpu"
if [ ! -e "$out/gpu.passed" ]; then
  say "== tests, sanitizer, parity, bench: left out, they need the step gpu"
  end
fi
step tests npm run test:gpu
for tool in memcheck racecheck synccheck; do
  if command -v compute-sanitizer >/dev/null; then
    # The kernels and owners.
    step "$tool" compute-sanitizer --tool "$tool" --error-exitcode 1 build/test/native/lattice_gpu_test
  else
    say "== $tool: left out, compute-sanitizer is not installed"
  fi
done
if [ -d ../shared/testdata ]; then
  step parity npm run parity -- --fp16
else
  say "== parity: left out, ../shared/testdata is absent"
fi
# Its own limit comes first, so that it can write what it has.
step bench npm run bench:gpu -- --quick --resume --out "$out/bench" --budget $(($(left) > 25 ? $(left) - 15 : 10))
end
