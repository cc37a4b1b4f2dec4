#!/usr/bin/env bash
# All checks that need a GPU, in one command:
#
#   scripts/gpu-check.sh [--allow-missing] [OUT]      OUT: folder for the results, by default build/gpu-check
#
# It prints first what it runs on. Without the CUDA engine, nvJPEG or libturbojpeg it would measure another product than
# users install, so it fails there, unless --allow-missing is given.
#
# It ends within LATTICE_GPU_CHECK_SECONDS (520 unless set). Each step has a deadline of its own: one that overruns is cut
# off and named, and what follows has its time. A second run continues there: steps that passed are not run again
# (except set-up and build, which check for themselves), and built engines stay in LATTICE_ENGINE_CACHE_DIR
# (build/engines unless set). With other sources, another GPU or another driver it starts from the beginning. It needs no
# git: LATTICE_COMMIT may name the commit that is measured.
# Steps come in the order of what they tell. All that the engine of one model for batches of 1 can show is first: its boxes
# beside those of f32 on the CPU, 1,000 replays with their times and the GPU memory that they take (none), parity, single
# images in process and over HTTP. Then engines are built for batches of 1 and 32, unless LATTICE_GPU_BATCHES says
# otherwise: throughput, decoding, load, sameness, memory. Native tests and compute-sanitizer are last.
# Exit code: 0 when every step that can run here passed, 1 when one failed, 2 when there is no GPU, 3 when steps are left.
# OUT holds each step's output as STEP.log, the benchmark's figures and charts in bench/, and what is printed in
# summary.txt. LATTICE_GPU_CHECK_COPY names a folder that gets all of it as it is written: a machine that is lent may be
# gone before the end.
set -u
allow_missing=
if [ "${1:-}" = --allow-missing ]; then
  allow_missing=1
  shift
fi
case ${1:-} in
-*)
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  [ "$1" = --help ] || [ "$1" = -h ]
  exit
  ;;
esac
cd "$(dirname "$0")/.." && mkdir -p "${1:-build/gpu-check}" build && out=$(cd "${1:-build/gpu-check}" && pwd) || exit 1
budget=${LATTICE_GPU_CHECK_SECONDS:-520}
export LATTICE_ENGINE_CACHE_DIR=${LATTICE_ENGINE_CACHE_DIR:-$PWD/build/engines}
# Few, so that the first run has time left to measure.
batches=${LATTICE_GPU_BATCHES:-1,32}
export LATTICE_GPU_BATCHES=1
export PATH=$PATH:/usr/local/cuda/bin
least=$((budget / 30)) # seconds: no step is begun with as little
grace=10               # seconds to end by itself in, for a step that is cut off
failed=()
unfinished=()
missing=()
: >"$out/summary.txt"

say() { echo "$*" | tee -a "$out/summary.txt"; }

left() { echo $((budget - SECONDS)); }

copy_results() { cp -ru "$out/." "$LATTICE_GPU_CHECK_COPY/"; }
if [ -n "${LATTICE_GPU_CHECK_COPY:-}" ]; then
  while sleep 2; do copy_results; done &
  trap "kill $!; copy_results" EXIT
fi

# step NAME PERCENT COMMAND...: COMMAND gets at most that share of the time, so that one that hangs leaves time to the
# others. COMMAND ends with 3 when a second start has to continue it.
step() {
  local name=$1 limit=$((budget * $2 / 100 + 1))
  shift 2
  if [ -e "$out/$name.passed" ]; then
    say "== $name: passed before"
    return
  fi
  local rest
  rest=$(left)
  if [ "$rest" -le "$least" ]; then
    unfinished+=("$name")
    say "== $name: left out, $rest s of $budget are left"
    return
  fi
  say "== $name"
  local start=$SECONDS
  timeout --kill-after=$grace $((limit < rest ? limit : rest)) "$@" >"$out/$name.log" 2>&1
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
      # compute-sanitizer's message where a virtual machine or a sandbox keeps it from the GPU.
      if grep -q 'Device not supported' "$out/$name.log"; then
        cannot "$name" "compute-sanitizer does not support this GPU as this machine shows it"
        return
      fi
      failed+=("$name")
      say "== $name: FAILED ($took), the end of $name.log:"
      tail -n 20 "$out/$name.log" | tee -a "$out/summary.txt"
      ;;
  esac
}

# cannot NAME REASON: the step cannot run on this machine, also not at a second start.
cannot() {
  missing+=("$1")
  say "== $1: left out, $2"
}

end() {
  [ "${#unfinished[@]}" -gt 0 ] && say "Not done: ${unfinished[*]}. Start it again to go on."
  [ "${#missing[@]}" -gt 0 ] && say "Cannot run here: ${missing[*]}. The reasons are above."
  [ "${#failed[@]}" -gt 0 ] && say "Failed: ${failed[*]}"
  say "Results: $out"
  [ "${#failed[@]}" -gt 0 ] && exit 1
  [ "${#unfinished[@]}" -gt 0 ] && exit 3
  exit 0
}

# told STEP PATTERN: prints the last line of its output that matches, if it passed; else false.
told() { [ -e "$out/$1.passed" ] && say "$(grep "$2" "$out/$1.log" | tail -n 1)"; }

smi() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null; }

if ! nvidia-smi -L >/dev/null 2>&1; then
  say "There is no NVIDIA GPU here that nvidia-smi can see, so nothing was run."
  say "Start it on a machine with one (a container needs the driver capabilities compute and utility); \`npm test\` and"
  say "\`npm run bench:gpu -- --dry\` need none."
  exit 2
fi

# Results are valid for these sources, this GPU and this driver only. Without git: a copy of the working tree has no
# history.
sources() {
  find CMakeLists.txt package.json package-lock.json native src bench scripts test models -type f -print0 2>/dev/null |
    LC_ALL=C sort -z | xargs -0 cksum | cksum
}
key="$(sources) $(smi name,driver_version)"
if [ -e "$out/key" ] && [ "$(cat "$out/key")" != "$key" ]; then
  rm -rf "$out"/*.passed "$out/bench/answers"
fi
echo "$key" >"$out/key"

# Machine code for this machine's GPUs only: a release holds that of all.
if [ -z "${CMAKE_CUDA_ARCHITECTURES:-}" ]; then
  here=$(smi compute_cap | tr -d . | grep -E '^[0-9]+$' | sort -u | sed 's/$/-real/' | paste -sd ';')
  [ -n "$here" ] && export CMAKE_CUDA_ARCHITECTURES=$here
fi

facts() {
  say "GPU: $(smi name,driver_version,memory.total | paste -sd ';')"
  say "Processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(
    awk '/^MemTotal/ { print int($2 / 1048576 + 0.5) }' /proc/meminfo
  ) GiB of memory"
  say "System: $(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME"), Linux $(uname -r), Node.js $(node --version 2>&1)"
  say "Sources: ${LATTICE_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}"
}
facts

which_gpu='node -e '\''const { buildInfo, gpus, jpegEnginesMissing } = require("./build/Release/lattice.node");
const [built, found] = [buildInfo(), gpus()];
console.log(built, found);
if (found.missing !== null) { console.log(found.missing); process.exit(1); }
const lacks = [];
if (!built.cuda) lacks.push("the CUDA engine");
const jpeg = jpegEnginesMissing();
if (jpeg !== null) lacks.push(`nvJPEG (${jpeg})`);
if (built.jpeg === "libvips") lacks.push("libturbojpeg (apt-get install libturbojpeg0-dev)");
console.log(lacks.length > 0 ? `This build lacks: ${lacks.join(", ")}.` : "Nothing is missing.");
process.exitCode = lacks.length > 0 && process.env.ALLOW_MISSING !== "1" ? 1 : 0;'\'
gtest=
[ -e build/prebuilt ] && gtest=prebuilt # scripts/pack-gpu-check.sh built the tests
for include in ${GTest_ROOT:+"$GTest_ROOT/include"} ${GTest_ROOT:-/usr/include /usr/local/include}; do
  [ -e "$include/gtest/gtest.h" ] && gtest=$include
done

# These take no time when nothing has changed, and the results may come from another machine than the build.
rm -f "$out/setup.passed" "$out/build.passed" "$out/gpu.passed"
step setup 75 npm run setup
[ -e "$out/setup.passed" ] || end
step build 75 node scripts/build-native.mjs --bench ${gtest:+--tests}
step gpu 12 env ALLOW_MISSING="$allow_missing" bash -c "$which_gpu"
told gpu . || end

# The model of every step but those that say otherwise.
first=models/vehicles-v8n.onnx
[ -e ../shared/testdata/models/yolov8n.onnx ] && first=../shared/testdata/models/yolov8n.onnx
build_engine() { step "$1" "$2" env LATTICE_MODELS_DIR="$(dirname "$3")" \
  node dist/cli/lattice.js engine build "$(basename "$3" .onnx)"; }
# ask QUESTION PERCENT: of the benchmark; its record has the answers of the questions before.
answered=()
ask() {
  step "$1" "$2" node --import tsx bench/gpu.ts --quick --resume --out "$out/bench" --models "$(dirname $first)" \
    "${answered[@]}" "$1"
  [ -e "$out/$1.passed" ] && answered+=("$1") && say "$(sed -n "/^== $1$/,\$p" "$out/$1.log")"
}
# In each round the network is replayed 17 times, once of them with all that is around it.
replays='build/Release/lattice_gpu_bench '"$first $LATTICE_ENGINE_CACHE_DIR"' 1 <<<"1 $0"'
build_engine first-engine 80 "$first"
if told first-engine ' is ready '; then
  step first-replays 12 bash -c "$replays" 1000
  told first-replays .
  if [ -d ../shared/testdata ]; then
    step parity 20 node --import tsx bench/parity.ts --fp16
    told parity .
  else
    ask parity 20
  fi
  ask sync-pixels 12
  ask sync-latency 15
  if command -v trtexec >/dev/null; then # the same as networkMs of first-replays
    step first-trtexec 12 bash -c "trtexec --useCudaGraph --noDataTransfers --useSpinWait --iterations=1000 \
      --loadEngine=\"\$(ls -t $LATTICE_ENGINE_CACHE_DIR/$(basename $first .onnx)_*.engine | head -n 1)\""
    told first-trtexec 'GPU Compute Time'
  fi
fi
export LATTICE_GPU_BATCHES=$batches
build_engine tiny-engine 40 models/tiny/tiny-v8.onnx
if [ -e "$out/first-engine.passed" ]; then
  build_engine engine 60 "$first"
  ask throughput 15
  ask hardware-decode 20
  ask mixed-load 12
  ask sameness 12
  ask memory 30
  ask shares 10
fi
if [ -n "$gtest" ]; then
  step tests 45 npm run test:gpu
else
  cannot tests "GoogleTest is not installed (apt-get install -y libgtest-dev)"
fi
# A fault that matters shows in the boxes of the tests and of parity too.
if command -v compute-sanitizer >/dev/null; then
  # Failed calls are not reported: some fail on purpose, and libraries look for functions that a driver lacks.
  sanitized='compute-sanitizer --report-api-errors no --error-exitcode 1 --tool'
  [ -e "$out/first-engine.passed" ] && step first-memcheck 25 bash -c "$sanitized memcheck $replays" 60
  for tool in ${gtest:+memcheck racecheck synccheck}; do
    # The kernels and owners. nvJPEG is checked for what it writes only: its own kernels take long.
    # The largest shapes run the same code as the others, with 10^9 more accesses to shared memory.
    without='HardwareDecoderOnGpu.*:DetectionKernels.LargestShapes'
    [ "$tool" = memcheck ] && without='HardwareDecoderOnGpu.ManyThreads*'
    step "$tool" 17 $sanitized "$tool" build/test/native/gpu/lattice_gpu_test "--gtest_filter=-$without"
  done
else
  cannot sanitizer "compute-sanitizer is not installed"
fi
end
