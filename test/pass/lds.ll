; A clone takes not one byte of LDS more than its original: with LDS full, with
; LDS that a called function uses, with dynamic LDS, and with none.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

@full = internal addrspace(3) global [16384 x i32] undef, align 4
@dynamic = external addrspace(3) global [0 x i32], align 4

; CHECK: .amdhsa_kernel fills{{$}}
; CHECK-NEXT: .amdhsa_group_segment_fixed_size 65536
define amdgpu_kernel void @fills(i32 %i) #0 {
  %p = getelementptr [16384 x i32], ptr addrspace(3) @full, i32 0, i32 %i
  store volatile i32 1, ptr addrspace(3) %p
  ret void
}

; CHECK: .amdhsa_kernel grows{{$}}
; CHECK-NEXT: .amdhsa_group_segment_fixed_size 0
define amdgpu_kernel void @grows(i32 %i) #0 {
  %p = getelementptr [0 x i32], ptr addrspace(3) @dynamic, i32 0, i32 %i
  store volatile i32 1, ptr addrspace(3) %p
  ret void
}

; CHECK: .amdhsa_kernel fills.kprobe
; CHECK-NEXT: .amdhsa_group_segment_fixed_size 65536
; CHECK: .amdhsa_kernel grows.kprobe
; CHECK-NEXT: .amdhsa_group_segment_fixed_size 0

attributes #0 = { nounwind "target-cpu"="gfx906" }
