#!/usr/bin/env bash
# From nothing to boxes in a bare system, without a container engine: debootstrap's minimal root and Node.js alone.
#
#   scripts/bare-root.sh package SUITE [MIRROR [SCRIPT]]   the service's package, without network and compiler
#   scripts/bare-root.sh demo SUITE [MIRROR [SCRIPT]]      the last commit: npm run demo, which installs what is missing
#   scripts/bare-root.sh test SUITE [MIRROR [SCRIPT]]      the same with npm test
#
# SUITE, MIRROR and SCRIPT are those of debootstrap (trixie, bookworm, noble ...): SCRIPT is gutsy for an Ubuntu that is
# newer than this debootstrap. As root; needs debootstrap and this machine's Node.js. Prints what each step took;
# nothing of it is left.
set -euo pipefail

usage() {
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"
  exit 2
}

place_node() {
  local npm
  npm=$(dirname "$(dirname "$(realpath "$(command -v npm)")")")
  mkdir -p "$root/usr/local/lib/node_modules" "$root/root/try"
  cp -L "$(node -p process.execPath)" "$root/usr/local/bin/node"
  cp -r "$npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  cp models/demo/street.jpg "$root/root/try/"
}

# The package's own dependencies come from npm's cache, so that the root needs no network.
place_package() {
  node scripts/pack.mjs service
  cp "dist-packages/$(node -p 'require("./package.json").release.service')"-[0-9]*.tgz "$root/root/try/package.tgz"
  npm install --loglevel error --prefix "$work/fetched" --cache "$root/root/.npm" "$root/root/try/package.tgz" >/dev/null
}

place_source() {
  git archive HEAD | tar x -C "$root/root/try"
  cp /etc/resolv.conf "$root/etc/"
  # As every installation has it.
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
}

# Its words run in the root.
readonly BEGIN='cd /root/try && export HOME=/root PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
. /etc/os-release && echo "$PRETTY_NAME, $(ldd --version | head -n 1), Node.js $(node --version)"
step() { local start=$SECONDS; "$@" && echo "  $((SECONDS - start)) s: $*"; }'
readonly TRY_PACKAGE='! command -v c++ && ! command -v python3 && ! grep -v -e lo: -e "|" /proc/net/dev
step npm install --offline --loglevel error ./package.tgz
step node node_modules/.bin/lattice detect street.jpg'
readonly TRY_DEMO='step npm run demo'
readonly TRY_TEST='step npm test'

# The environment variables that lead through the network of this machine, and no others.
network_variables() {
  env | grep -iE '^[A-Z0-9_]*(proxy|cert|ca_bundle|cainfo|ca_certs)[A-Z0-9_]*=' || true
}

# A mount namespace of its own: nothing stays mounted. "$@": more of unshare.
run_in_root() {
  local words=$1 variables
  shift
  mapfile -t variables < <(network_variables)
  env -i "PATH=$PATH" "${variables[@]}" "ROOT=$root" "WORDS=set -e
$BEGIN
$words" unshare --mount "$@" bash -c '
    mount -t proc proc "$ROOT/proc"
    mount --rbind /sys "$ROOT/sys"
    mount --rbind /dev "$ROOT/dev"
    exec chroot "$ROOT" bash -c "$WORDS"'
}

case ${1:-} in package | demo | test) what=$1 ;; *) usage ;; esac
[ $# -ge 2 ] || usage
suite=$2
shift 2
cd "$(dirname "$0")/.."
work=$(mktemp -d /var/tmp/lattice-bare-XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
# Ubuntu has pip and GoogleTest in universe, which every installation of it uses.
components=main
case ${1:-} in *ubuntu*) components=main,universe ;; esac
debootstrap --components="$components" --variant=minbase --include=ca-certificates "$suite" "$root" "$@" >"$work/debootstrap.log" ||
  { tail -n 5 "$work/debootstrap.log" && exit 1; }
place_node
if [ "$what" = package ]; then
  place_package
  run_in_root "$TRY_PACKAGE" --net
else
  place_source
  if [ "$what" = demo ]; then run_in_root "$TRY_DEMO"; else run_in_root "$TRY_TEST"; fi
fi
