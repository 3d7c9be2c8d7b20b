; LDS that a called function uses is laid out once for the whole module: neither
; the clone nor any original grows by it.
;
; RUN: %llc -mcpu=gfx906 %s -o - | FileCheck %s --check-prefixes=CHECK,PLAIN
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 | FileCheck %s --check-prefixes=CHECK,PROBED

target triple = "amdgcn-amd-amdhsa"

@buffer = internal addrspace(3) global [64 x i32] undef, align 4
@own = internal addrspace(3) global [32 x i32] undef, align 4

define internal void @helper(i32 %i) noinline #0 {
  %p = getelementptr [64 x i32], ptr addrspace(3) @buffer, i32 0, i32 %i
  store volatile i32 1, ptr addrspace(3) %p
  ret void
}

; CHECK: .amdhsa_kernel a{{$}}
; CHECK-NEXT: .amdhsa_group_segment_fixed_size 256
define amdgpu_kernel void @a(i32 %i) #0 {
  call void @helper(i32 %i)
  ret void
}

; CHECK: .amdhsa_kernel b{{$}}
; CHECK-NEXT: .amdhsa_group_segment_fixed_size 384
define amdgpu_kernel void @b(i32 %i) #0 {
  %p = getelementptr [32 x i32], ptr addrspace(3) @own, i32 0, i32 %i
  store volatile i32 1, ptr addrspace(3) %p
  call void @helper(i32 %i)
  ret void
}

; A kernel without calls has none of it, and its clone, for all its assembly, has
; none either.
; CHECK: .amdhsa_kernel c{{$}}
; CHECK-NEXT: .amdhsa_group_segment_fixed_size 0
define amdgpu_kernel void @c(ptr addrspace(1) %p) #0 {
  store i32 1, ptr addrspace(1) %p
  ret void
}

; PLAIN-NOT: .amdhsa_kernel
; PROBED: .amdhsa_kernel a.kprobe
; PROBED-NEXT: .amdhsa_group_segment_fixed_size 256
; PROBED: .amdhsa_kernel b.kprobe
; PROBED-NEXT: .amdhsa_group_segment_fixed_size 384
; PROBED: .amdhsa_kernel c.kprobe
; PROBED-NEXT: .amdhsa_group_segment_fixed_size 0

attributes #0 = { nounwind "target-cpu"="gfx906" }
