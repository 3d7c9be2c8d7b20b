; A probe costs nine instructions: one clock, four scalar, three moves and one
; store; no wait but the clock's, no branch, no atomic, no LDS, no scratch.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 -o %t.s
; RUN: FileCheck %s --implicit-check-not=atomic --implicit-check-not=ds_ \
; RUN:   --implicit-check-not=buffer_ --implicit-check-not=s_store < %t.s

target triple = "amdgcn-amd-amdhsa"

; In a loop with a load in flight: the one wait is the clock's, and the load's
; own wait lets the probe's store go on (vmcnt(1), not 0).
; CHECK-LABEL: {{^}}k.kprobe:
; CHECK: [[LOOP:\.LBB[0-9_]+]]:
; CHECK: s_memtime s{{\[}}[[CLOCK:[0-9]+]]:{{[0-9]+}}]
; CHECK-NOT: {{s_waitcnt|branch}}
; CHECK: s_waitcnt lgkmcnt(0)
; CHECK-NEXT: ASMSTART
; CHECK-NEXT: s_and_b32 [[PLACE:s[0-9]+]], s72, s73
; CHECK-NEXT: s_add_u32 s72, s72, 8
; CHECK-NEXT: s_bcnt1_i32_b64 [[TAG:s[0-9]+]], exec
; CHECK-NEXT: s_lshl4_add_u32 [[TAG]], [[TAG]], 1009
; CHECK-NEXT: ASMEND
; CHECK-NOT: {{s_waitcnt|branch}}
; CHECK-DAG: v_mov_b32_e32 v[[LOW:[0-9]+]], s[[CLOCK]]
; CHECK-DAG: v_mov_b32_e32 v[[HIGH:[0-9]+]], [[TAG]]
; CHECK-DAG: v_mov_b32_e32 [[OFFSET:v[0-9]+]], [[PLACE]]
; CHECK-NOT: {{s_waitcnt|branch}}
; CHECK: global_store_dwordx2 [[OFFSET]], v{{\[}}[[LOW]]:[[HIGH]]], s{{\[[0-9]+:[0-9]+\]$}}
; CHECK-NEXT: s_waitcnt vmcnt(1)
; CHECK-NEXT: v_fmac_f32
; CHECK-NEXT: s_cbranch_scc1 [[LOOP]]
;
; A short block that another tells of has no probe; what there is besides its store
; is the end of the wave, with one wait.
; CHECK: %exit
; CHECK-NOT: {{s_add_u32 s72|branch|s_waitcnt}}
; CHECK: s_memtime
; CHECK-NOT: {{s_add_u32 s72|branch|s_waitcnt}}
; CHECK: s_waitcnt lgkmcnt(0)
; CHECK-NOT: {{s_add_u32 s72|branch|s_waitcnt}}
; CHECK: s_endpgm
define protected amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %at = add i32 %i, %item
  %at64 = zext i32 %at to i64
  %q = getelementptr float, ptr addrspace(1) %p, i64 %at64
  %v = load float, ptr addrspace(1) %q
  %more = call float @llvm.fma.f32(float %v, float %v, float %sum)
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  store float %more, ptr addrspace(1) %p
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare float @llvm.fma.f32(float, float, float)

attributes #0 = { nounwind "target-cpu"="gfx906" }
