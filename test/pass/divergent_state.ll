; Both arms of a divergent branch advance the one cursor: it is a register, not a
; value, and no move or select of it is to be seen.
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>,verify' %s | \
; RUN:   %llc -mcpu=gfx906 -verify-machineinstrs | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; CHECK-LABEL: {{^}}k.kprobe:
; CHECK: s_mov_b32 s72, 0
; CHECK-NOT: {{(s_mov|s_cselect|v_cndmask|v_readfirstlane|v_readlane|v_writelane).*s72}}
; CHECK-COUNT-6: s_add_u32 s72, s72, 8
; CHECK-NOT: {{s_add_u32 s72|(s_mov_b32 s72|s_cselect|v_cndmask|v_readlane|v_writelane).*s72}}
; CHECK: v_mov_b32 v{{[0-9]+}}, s72
; CHECK: s_endpgm
define amdgpu_kernel void @k(ptr addrspace(1) %p, float %x, i32 %n) #0 {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr float, ptr addrspace(1) %p, i32 %item
  %some = icmp ult i32 %item, 13
  br i1 %some, label %then, label %else
then:
  %a = load float, ptr addrspace(1) %at
  %b = fmul float %a, %x
  br label %join
else:
  %c = fadd float %x, 2.0
  br label %join
join:
  %v = phi float [ %b, %then ], [ %c, %else ]
  store float %v, ptr addrspace(1) %at
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { nounwind "target-cpu"="gfx906" }
