; The back end goes by the order of a value's uses where it has to choose (for
; induction variables, say): both clones have the original's, so that they are
; compiled as it is.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe,verify -S \
; RUN:   -preserve-ll-uselistorder %s | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; CHECK-LABEL: define amdgpu_kernel void @k(
; CHECK: uselistorder i32 %x, { 1, 0, 2 }
; CHECK-LABEL: define amdgpu_kernel void @k.kprobe(
; CHECK: uselistorder i32 %x, { 1, 0, 2 }
; CHECK-LABEL: define amdgpu_kernel void @k.sampled.kprobe(
; CHECK: uselistorder i32 %x, { 1, 0, 2 }
; CHECK-NEXT: uselistorder i32 %x.plain, { 1, 0, 2 }
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %some = icmp sgt i32 %n, 7
  br i1 %some, label %then, label %join
then:
  %x = add i32 %n, 5
  %a = mul i32 %x, 3
  %b = mul i32 %x, 5
  %c = mul i32 %x, 7
  %d = xor i32 %a, %b
  %e = xor i32 %d, %c
  store i32 %e, ptr addrspace(1) %p
  br label %join
join:
  ret void

  uselistorder i32 %x, { 1, 0, 2 }
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
