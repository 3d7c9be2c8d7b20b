; The original stays as it is; the clone has its linkage, visibility, arguments
; and launch bounds, no comdat, and a scalar register limit of its own.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe -S %s | FileCheck %s
; RUN: %opt -passes=verify -S %s -o %t.plain
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe,verify -S %s -o %t.probed
; RUN: sed -n '/^define.*@k(/,/^}/p' %t.plain > %t.plain.k
; RUN: sed -n '/^define.*@k(/,/^}/p' %t.probed > %t.probed.k
; RUN: cmp %t.plain.k %t.probed.k

target triple = "amdgcn-amd-amdhsa"

$k = comdat any

; CHECK: define weak_odr protected amdgpu_kernel void @k(ptr addrspace(1) %p) #[[OLD:[0-9]+]] comdat {
; CHECK: define weak_odr protected amdgpu_kernel void @k.kprobe(ptr addrspace(1) %p) #[[NEW:[0-9]+]] {
; CHECK: attributes #[[OLD]] = { nounwind "amdgpu-flat-work-group-size"="1,256" "amdgpu-num-vgpr"="24" "amdgpu-waves-per-eu"="4" "target-cpu"="gfx906" "unsafe-fp-math"="true" }
; CHECK: attributes #[[NEW]] = { nounwind "amdgpu-elide-module-lds" "amdgpu-flat-work-group-size"="1,256" "amdgpu-num-sgpr"="70" "amdgpu-num-vgpr"="24" "amdgpu-waves-per-eu"="4" "target-cpu"="gfx906" "unsafe-fp-math"="true" }
define weak_odr protected amdgpu_kernel void @k(ptr addrspace(1) %p) #0 comdat {
  store i32 1, ptr addrspace(1) %p
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" "amdgpu-flat-work-group-size"="1,256" "amdgpu-waves-per-eu"="4" "amdgpu-num-vgpr"="24" "unsafe-fp-math"="true" }
