; Options are the same in a pipeline and in the environment; an unknown one is
; an error, and leaving out every kernel is worth a warning.
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<kernels=two*>' -S %s | FileCheck %s --check-prefix=TWO
; RUN: env KPROBE_PASS='kernels=two*,zero;level=block' %opt -load-pass-plugin=%plugin -passes=kprobe -S %s | FileCheck %s --check-prefix=TWO
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<exclude=one;exclude=nothing>' -S %s | FileCheck %s --check-prefix=TWO
; TWO-NOT: define {{.*}}@_Z3onePi.kprobe
; TWO: define {{.*}}@_Z3twoPi.kprobe(
; TWO-NOT: define {{.*}}@_Z3onePi.kprobe
;
; RUN: env KPROBE_PASS=disable %opt -load-pass-plugin=%plugin -passes=kprobe -S %s | FileCheck %s --check-prefix=OFF
; OFF-NOT: kprobe(
;
; RUN: not %opt -load-pass-plugin=%plugin -passes='kprobe<colour=red>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
; UNKNOWN: error: kprobe: unknown option 'colour=red' (known: kernels=NAMES
; RUN: env KPROBE_PASS=level=line not %opt -load-pass-plugin=%plugin -passes=kprobe -disable-output %s 2>&1 | FileCheck %s --check-prefix=LEVEL
; LEVEL: error: kprobe: KPROBE_PASS: unknown level 'line' (known: function, loop, block)
; RUN: not %opt -load-pass-plugin=%plugin -passes='kprobe<kernels=[a>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=GLOB
; GLOB: error: kprobe: bad glob '[a'
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<kernels=three>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE
; NONE: warning: kprobe: 2 kernels, none instrumented: the options leave out all of them
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<verbose>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=VERBOSE
; VERBOSE: warning: kprobe: 2 of 2 kernels instrumented, 2 sites, 0 of them told of by others
; RUN: not %opt -load-pass-plugin=%plugin -passes='kprobe<block=few>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BLOCK
; BLOCK: error: kprobe: unknown choice of blocks 'few' (known: minimal, all)

target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @_Z3onePi(ptr addrspace(1) %p) #0 {
  ret void
}

define amdgpu_kernel void @_Z3twoPi(ptr addrspace(1) %p) #0 {
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
