; A probe costs six instructions where all lanes come, and eight where they have
; to be counted: a clock (or none), two or four scalar ones, two moves and a store.
; No wait but the clock's, no branch, no atomic, no LDS, no scratch.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 -o %t.s
; RUN: FileCheck %s --implicit-check-not=atomic --implicit-check-not=ds_ \
; RUN:   --implicit-check-not=buffer_load --implicit-check-not=s_store < %t.s

target triple = "amdgcn-amd-amdhsa"

; In a loop with a load in flight: the compiler sees the store and waits for the
; load alone.
; CHECK-LABEL: {{^}}k.kprobe:
; CHECK: [[LOOP:\.LBB[0-9_]+]]:
; CHECK: s_memtime s{{\[}}[[CLOCK:[0-9]+]]:{{[0-9]+}}]
; CHECK-NOT: {{s_waitcnt vmcnt|branch}}
; CHECK: v_mov_b32 v[[HIGH:[0-9]+]], 1029
; CHECK-NOT: {{s_waitcnt vmcnt|branch}}
; CHECK: s_waitcnt lgkmcnt(0)
; CHECK-DAG: s_and_b32 [[PLACE:s[0-9]+]], s72, s73
; CHECK-DAG: s_add_u32 s72, s72, 8
; CHECK-DAG: v_mov_b32_e32 v[[LOW:[0-9]+]], s[[CLOCK]]
; CHECK: buffer_store_dwordx2 v{{\[}}[[LOW]]:[[HIGH]]], off, s{{\[[0-9]+:[0-9]+\]}}, [[PLACE]] offset:128
; CHECK: s_waitcnt vmcnt(1)
; CHECK-NOT: {{s_waitcnt vmcnt|branch}}
; CHECK: s_cbranch_scc1 [[LOOP]]
;
; Some lanes only, a block too short for a clock, and a barrier behind it.
; CHECK: s_and_saveexec
; CHECK: s_bcnt1_i32_b64 [[TAG:s[0-9]+]], exec
; CHECK-NEXT: s_lshl4_add_u32 [[TAG]], [[TAG]], 3059
; CHECK-NEXT: v_mov_b32 v[[HIGH:[0-9]+]], [[TAG]]
; CHECK-NEXT: v_mov_b32 v[[LOW:[0-9]+]], s72
; CHECK: buffer_store_dwordx2 v{{\[}}[[LOW]]:[[HIGH]]]
; CHECK: s_or_b64 exec, exec
; CHECK: s_memtime
; CHECK: s_barrier
;
; The end of the wave, with one wait.
; CHECK: s_memrealtime
; CHECK: s_waitcnt lgkmcnt(0)
; CHECK-NOT: s_waitcnt
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
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %some = icmp ult i32 %lane, 13
  br i1 %some, label %then, label %join
then:
  br label %join
join:
  %w = phi float [ %more, %exit ], [ 1.0, %then ]
  call void @llvm.amdgcn.s.barrier()
  store float %w, ptr addrspace(1) %p
  ret void
}

; With nothing to load the store is out of the compiler's sight: it waits for none at
; a barrier. And where no block can come twice, each event has its place: without a
; cursor an event takes two scalar instructions less.
; CHECK-LABEL: {{^}}barriers.kprobe:
; CHECK-NOT: s72
; CHECK: s_and_saveexec
; CHECK: buffer_store_dwordx2 v{{\[[0-9]+:[0-9]+\]}}, off, s[68:71], 0 offset:128
; CHECK-NOT: vmcnt
; CHECK: s_barrier
; CHECK-NOT: s72
; CHECK: s_endpgm
define protected amdgpu_kernel void @barriers(ptr addrspace(1) %p) #0 {
entry:
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %some = icmp ult i32 %lane, 13
  br i1 %some, label %then, label %join
then:
  br label %join
join:
  %w = phi float [ 0.0, %entry ], [ 1.0, %then ]
  call void @llvm.amdgcn.s.barrier()
  store float %w, ptr addrspace(1) %p
  ret void
}

declare void @llvm.amdgcn.s.barrier() convergent
declare i32 @llvm.amdgcn.workitem.id.x()
declare float @llvm.fma.f32(float, float, float)

attributes #0 = { nounwind "target-cpu"="gfx906" }
