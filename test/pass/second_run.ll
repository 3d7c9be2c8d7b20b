; A second run of the pass over the same module does nothing.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe -S %s -o %t.once
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe,kprobe -S %s -o %t.twice
; RUN: cmp %t.once %t.twice
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe -S %t.once -o %t.again
; RUN: FileCheck %s < %t.again
; CHECK: @k.kprobe(
; CHECK-NOT: .kprobe.kprobe

target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @k(ptr addrspace(1) %p) #0 {
  store i32 1, ptr addrspace(1) %p
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
