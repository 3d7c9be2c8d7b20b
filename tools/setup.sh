# Installs what kprobe needs on Debian 12 and builds it: sourced by test/run.sh
# and tools/demo.sh, so that packages and build steps are written down once.
# shellcheck shell=bash
#
#   kprobe_setup       installs, configures, builds; returns non-zero with a line
#                      on stderr when that fails
#   KPROBE_SOURCE      root of the source tree      KPROBE_BUILD   build tree
#   KPROBE_JOBS        parallel jobs, 2 by default

KPROBE_SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
KPROBE_BUILD=$KPROBE_SOURCE/build/release
KPROBE_JOBS=${KPROBE_JOBS:-2}

KPROBE_PACKAGES=(
  # HIP: compiler driver, run time, device libraries, thunk headers
  hipcc libamdhip64-dev rocm-device-libs libamd-comgr-dev
  libhsa-runtime-dev libhsakmt-dev
  # hipcc's own LLVM: headers for the plug-in, FileCheck and lit for the tests
  clang-15 llvm-15 llvm-15-dev llvm-15-tools clang-tools-15 lld-15
  # other LLVMs, for their plug-ins and tests (of bookworm-security)
  clang-19 llvm-19 llvm-19-dev clang-tools-19 lld-19
  clang-22 llvm-22 llvm-22-dev clang-tools-22 lld-22
  # build
  g++ cmake ninja-build ccache pkg-config zlib1g-dev
  # libraries of the decoder and the tests
  babeltrace2 libbabeltrace2-dev nlohmann-json3-dev libcli11-dev
  libxxhash-dev libgtest-dev libbenchmark-dev
  libprotobuf-dev protobuf-compiler libdw-dev
  # LTTng: the provider of --lttng, and a session for its test
  liblttng-ust-dev lttng-tools
  # layout of CPython, for a test
  libpython3.11-dev
  # scripts; libclang's Python for the wrappers of HIP and HSA functions
  python3 python3-clang-15
)

# Installs the packages that are missing; quick when there is none.
kprobe_install() {
  local Missing=() Package Root=()
  for Package in "${KPROBE_PACKAGES[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$Package" 2>/dev/null)" = installed ] ||
      Missing+=("$Package")
  done
  [ ${#Missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    Root=(sudo -n)
    if ! sudo -n true 2>/dev/null; then
      if [ -t 0 ] && command -v sudo >/dev/null; then
        Root=(sudo)
      else
        echo "error: packages are missing (${Missing[*]}) and neither root nor sudo is at hand" >&2
        return 1
      fi
    fi
  fi
  echo "installing ${#Missing[@]} packages: ${Missing[*]}"
  "${Root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update </dev/null &&
    "${Root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
      -o Dpkg::Use-Pty=0 install --no-install-recommends "${Missing[@]}" </dev/null
}

# Runs a command quietly and shows what it said only when it fails.
kprobe_quietly() {
  local Log Status
  Log=$(mktemp) || return 1
  "$@" >"$Log" 2>&1 </dev/null
  Status=$?
  [ $Status -eq 0 ] || tail -n 60 "$Log" >&2
  rm -f "$Log"
  return $Status
}

kprobe_build() {
  (cd "$KPROBE_SOURCE" && kprobe_quietly cmake --preset release) || {
    echo "error: CMake could not configure kprobe" >&2
    return 1
  }
  # -k 0: one file that does not compile must not hide the others.
  kprobe_quietly cmake --build "$KPROBE_BUILD" -j "$KPROBE_JOBS" -- -k 0 || {
    echo "error: kprobe does not build" >&2
    return 1
  }
}

kprobe_setup() {
  kprobe_install || {
    echo "error: could not install packages" >&2
    return 1
  }
  kprobe_build
}
