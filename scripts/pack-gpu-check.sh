#!/usr/bin/env bash
# Packs scripts/gpu-check.sh with all that it needs for a GPU machine without a network, Node.js or a compiler:
#
#   CUDAToolkit_ROOT=CUDA CUDACXX=CUDA/bin/nvcc TENSORRT_ROOT=TENSORRT scripts/pack-gpu-check.sh OUT_FOLDER
#
# It builds the last commit for GPUs of compute capability 9.0 (CMAKE_CUDA_ARCHITECTURES names others) with the CUDA
# engine, nvJPEG and libturbojpeg, and fails without one of them. TENSORRT holds `include` and, unless the GPU machine
# has TensorRT, `lib`: libraries with the kernels of one GPU only make far fewer parts. ../shared/testdata goes along, and
# compute-sanitizer where the toolkit has it.
#
# OUT_FOLDER gets parts of at most 45 MB, their checksums and unpack.sh. How to use them is printed at the end.
# The GPU machine needs x86-64 Linux with this machine's C library or a newer one, bash, coreutils, tar, gzip, awk, sed.
# Programs contain the path of their folder, so it is the same on both machines: LATTICE_PACK_PLACE, by default
# /tmp/lattice-gpu-check. A second run builds only what has changed.
set -euo pipefail

fail() {
  echo "pack-gpu-check: $*" >&2
  exit 1
}

# Folders that are made in a checkout, for find.
not_sources=(-path ./node_modules -o -path ./build -o -path ./.deps -o -path ./dist)

# The last commit. A file that has not changed keeps its time, so that little is built again.
copy_sources() {
  local fresh=$place/commit
  rm -rf "$fresh"
  mkdir -p "$fresh" "$tree"
  git archive HEAD | tar x -C "$fresh"
  (cd "$tree" && find . \( "${not_sources[@]}" \) -prune -o -type f -print | while read -r file; do
    [ -e "$fresh/$file" ] || rm "$file"
  done)
  (cd "$fresh" && find . -type f | while read -r file; do
    cmp -s "$file" "$tree/$file" || install -D -m "$(stat -c %a "$file")" "$file" "$tree/$file"
  done)
  rm -r "$fresh"
}

# With TensorRT in the place where it will lie on the GPU machine.
build() {
  rm -f "$tree/build/prebuilt"
  rm -rf "$place/tensorrt"
  mkdir -p "$place/tensorrt"
  cp -r --reflink=auto "$TENSORRT_ROOT/include" "$place/tensorrt/"
  [ ! -d "$TENSORRT_ROOT/lib" ] || cp -rd --reflink=auto "$TENSORRT_ROOT/lib" "$place/tensorrt/"
  (
    cd "$tree"
    export LATTICE_CUDA=ON CMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES:-90-real} TENSORRT_ROOT=$place/tensorrt
    npm run --silent setup
    node scripts/build-native.mjs --tests --bench | tee "$place/build.log"
  )
  ! grep -E '^(nvJPEG: left out|JPEG: libvips alone)' "$place/build.log" ||
    fail "this build would measure another product than users install"
  echo "$commit" >"$tree/build/prebuilt"
}

# Node.js with npm, the data of the tests, and the libraries that a bare system lacks.
add_runtime() {
  local npm nvjpeg
  npm=$(dirname "$(dirname "$(realpath "$(command -v npm)")")")
  nvjpeg=$(find -L "$CUDAToolkit_ROOT" -name 'libnvjpeg.so.*' | sort | head -n 1)
  [ -n "$nvjpeg" ] || fail "there is no libnvjpeg.so in $CUDAToolkit_ROOT"
  rm -rf "$place/node" "$place/libraries" "$place/shared"
  mkdir -p "$place/node/bin" "$place/node/lib/node_modules" "$place/libraries" "$place/shared/testdata/models"
  cp -L "$(node -p process.execPath)" "$place/node/bin/node"
  cp -r "$npm" "$place/node/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$place/node/bin/npm"
  cp -L "$nvjpeg" "$place/libraries/"
  ldd "$tree/build/Release/lattice.node" | awk '/libturbojpeg|libgomp/ { print $3 }' |
    xargs -r cp -L -t "$place/libraries"
  if [ -x "$CUDAToolkit_ROOT/compute-sanitizer/compute-sanitizer" ]; then
    mkdir "$place/libraries/compute-sanitizer"
    find "$CUDAToolkit_ROOT/compute-sanitizer" -maxdepth 1 -type f -exec cp -t "$place/libraries/compute-sanitizer" {} +
  else
    echo "compute-sanitizer is not packed: $CUDAToolkit_ROOT has none."
  fi
  cp -r ../shared/testdata/{images,coco128,expected} "$place/shared/testdata/"
  cp ../shared/testdata/models/{yolov8n,kitti-3class-int8}.onnx "$place/shared/testdata/models/"
  cat >"$place/check.sh" <<END
#!/usr/bin/env bash
# Runs gpu-check.sh with these arguments; its results are in $place/results.tar.gz, and each of them in the folder OUT, if
# the environment names one, as soon as it is there.
export PATH=$place/node/bin:$place/libraries/compute-sanitizer:\$PATH LATTICE_COMMIT=$commit
export LATTICE_GPU_CHECK_COPY=\${OUT:-}
export LD_LIBRARY_PATH=$place/tensorrt/lib:$place/libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
bash $tree/scripts/gpu-check.sh "\$@"
code=\$?
[ ! -d $tree/build/gpu-check ] || tar czf $place/results.tar.gz -C $tree/build gpu-check
exit \$code
END
}

# The paths to pack, relative to the place. Of node_modules the packages that run: the service's and TypeScript's loader.
list_files() (
  cd "$place"
  printf '%s\n' check.sh node libraries shared lattice-core/.deps/openvino/{libs,VERSION}
  [ ! -d tensorrt/lib ] || echo tensorrt/lib
  (cd lattice-core && {
    find . \( "${not_sources[@]}" \) -prune -o -type f -print
    find build -type f -perm -u+x \( -name 'lattice*.node' -o -name 'lattice_*_test' -o -name lattice_gpu_bench -o \
      -name '*.so' \)
    printf '%s\n' dist build/prebuilt
    npm query '.prod, #tsx, #tsx *' |
      node -e 'for (const { location } of JSON.parse(require("fs").readFileSync(0, "utf8"))) if (location) console.log(location)'
  } | sed 's,^\./,,; s,^,lattice-core/,')
)

pack() {
  rm -f "$out"/part.* "$out/SHA256SUMS"
  list_files >"$place/files"
  tar c -C "$place" -T "$place/files" | gzip | split -b 45000000 -d -a 3 - "$out/part."
  (cd "$out" && sha256sum part.* >SHA256SUMS)
  cat >"$out/unpack.sh" <<END
#!/usr/bin/env bash
# Puts the parts beside this script together in $place.
set -euo pipefail
cd "\$(dirname "\$0")"
sha256sum -c --quiet SHA256SUMS
mkdir -p $place
cat part.* | tar xz --no-same-owner -C $place
END
}

case ${1:-} in
"" | -*)
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"
  [ "${1:-}" = --help ] || [ "${1:-}" = -h ]
  exit
  ;;
esac
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
place=${LATTICE_PACK_PLACE:-/tmp/lattice-gpu-check}
tree=$place/lattice-core
[ -d "${CUDAToolkit_ROOT:-}" ] || fail "CUDAToolkit_ROOT must name the folder of the CUDA toolkit"
[ -d "${TENSORRT_ROOT:-}/include" ] || fail "TENSORRT_ROOT must name a folder with TensorRT's include, and lib"
[ -d ../shared/testdata ] || fail "../shared/testdata is absent, so the check would compare no boxes"
commit=$(git rev-parse --short HEAD)
[ -z "$(git status --porcelain)" ] || echo "Uncommitted changes are not packed, only $commit."
copy_sources
build
add_runtime
pack
[ -d "$place/tensorrt/lib" ] || echo "TensorRT's libraries are not packed: the GPU machine needs its own."
cat <<END
$(ls "$out"/part.* | wc -l) parts, $(cat "$out"/part.* | wc -c | awk '{ print int($1 / 1e6 + 0.5) }') MB, unpacked $(
  du -scm $(sed "s,^,$place/," "$place/files") | tail -n 1 | cut -f 1
) MiB, in $out. On the GPU machine, in this order:
  1. copy each part.*, SHA256SUMS and unpack.sh into one folder
  2. bash FOLDER/unpack.sh
  3. bash $place/check.sh      again while it ends with 3; each run takes at most 9 minutes
  4. take $place/results.tar.gz
END
