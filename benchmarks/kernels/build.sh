#!/bin/bash
# Builds the programs of this folder: build.sh OUT [more hipcc flags...]
# With the plug-in: build.sh OUT -fpass-plugin=$(kprobe-config --plugin)
# KPROBE_ARCH chooses other targets than gfx906 (comma-separated: one binary for
# all of them), KPROBE_PROGRAMS a subset.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
if [ $# -lt 1 ]; then
  echo "usage: $0 OUT [hipcc flags...]" >&2
  exit 2
fi
Out=$(realpath -m -- "$1") && mkdir -p "$Out" || exit 1
shift

Targets=
for Arch in $(tr , ' ' <<<"${KPROBE_ARCH:-gfx906}"); do
  Targets+=" --offload-arch=$Arch"
done

build() {
  local Sources=$1.hip
  [ "$1" = anonymous ] && Sources="anonymous_a.hip anonymous_b.hip"
  local Program=$1
  shift
  # shellcheck disable=SC2086 # several sources, several targets
  ${KPROBE_HIPCC:-hipcc} $Targets -O3 -gline-tables-only "$@" \
    $Sources -o "$Out/$Program" && return 0
  echo "build.sh: error: $Program does not compile" >&2
  return 1
}

Status=0
for Program in ${KPROBE_PROGRAMS:-vecadd matmul reduce histogram divergent nbody anonymous printf}; do
  build "$Program" "$@" &
  # Two at a time.
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
    wait -n || Status=1
  done
done
while [ -n "$(jobs -p)" ]; do
  wait -n || Status=1
done
exit $Status
