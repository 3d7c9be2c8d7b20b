; Processors without a row in targets.def, and devices of other makers, are
; named in one line and left alone; host code is passed over in silence.
;
; RUN: sed -e s/CPU/gfx803/ %s > %t.gfx803.ll
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe -S %t.gfx803.ll -o %t.out 2>&1 | FileCheck %s --check-prefix=GFX803
; GFX803: warning: kprobe: processor 'gfx803' is not supported; no kernel instrumented
; GFX803-NOT: {{.}}
; RUN: %opt -S %t.gfx803.ll -o %t.plain
; RUN: cmp %t.plain %t.out
; RUN: sed -e s/CPU/gfx1399/ %s | %opt -load-pass-plugin=%plugin -passes=kprobe -disable-output 2>&1 | FileCheck %s --check-prefix=GFX1399
; GFX1399: warning: kprobe: processor 'gfx1399' is not supported
; RUN: sed -e s/target-cpu/some-cpu/ %s | %opt -load-pass-plugin=%plugin -passes=kprobe -disable-output 2>&1 | FileCheck %s --check-prefix=NOCPU
; NOCPU: warning: kprobe: kernels do not say which processor they are for
; RUN: sed -e s/amdgcn-amd-amdhsa/spirv64-unknown-unknown/ -e s/amdgpu_kernel/spir_kernel/ %s | %opt -load-pass-plugin=%plugin -passes=kprobe -disable-output 2>&1 | FileCheck %s --check-prefix=SPIRV
; SPIRV: warning: kprobe: target 'spirv64-unknown-unknown' is not supported
; RUN: sed -e s/amdgcn-amd-amdhsa/x86_64-pc-linux-gnu/ -e s/amdgpu_kernel// %s | %opt -load-pass-plugin=%plugin -passes=kprobe -disable-output 2>&1 | count 0

target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @k(ptr addrspace(1) %p) #0 {
  ret void
}

attributes #0 = { nounwind "target-cpu"="CPU" }
