; What the program loads through scalar registers stays so, loads that the
; compiler joins included: probes are known not to touch it.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; CHECK-LABEL: {{^}}k.kprobe:
; CHECK: s_mov_b32 s72, 0
; CHECK-NOT: {{global_load|flat_load}}
; CHECK: s_load_dwordx4
; CHECK-NOT: {{global_load|flat_load}}
; CHECK: s_endpgm
define amdgpu_kernel void @k(ptr addrspace(1) noalias %p, ptr addrspace(1) noalias %out, i32 %n) #0 {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %abcd, %loop ]
  %at = shl i32 %i, 2
  %p0 = getelementptr i32, ptr addrspace(1) %p, i32 %at
  %p1 = getelementptr i32, ptr addrspace(1) %p0, i32 1
  %p2 = getelementptr i32, ptr addrspace(1) %p0, i32 2
  %p3 = getelementptr i32, ptr addrspace(1) %p0, i32 3
  %a = load i32, ptr addrspace(1) %p0, align 16
  %b = load i32, ptr addrspace(1) %p1
  %c = load i32, ptr addrspace(1) %p2
  %d = load i32, ptr addrspace(1) %p3
  %ab = mul i32 %a, %b
  %cd = mul i32 %c, %d
  %abc = add i32 %ab, %cd
  %abcd = add i32 %abc, %sum
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  store i32 %abcd, ptr addrspace(1) %out
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
