; The pass says that it keeps no analysis: passes that use loops and dominators, with
; and without results from before, find what is there, also where each checks its work.
;
; RUN: %opt -load-pass-plugin=%plugin -verify-each -S %s -o %t.ll \
; RUN:   -passes='function(require<domtree>,require<loops>),kprobe,function(verify<domtree>,verify<loops>,loop-simplify,lcssa,loop-mssa(licm),loop(loop-rotate),simplifycfg,instcombine,gvn,verify<domtree>)'
; RUN: FileCheck %s < %t.ll
; RUN: %llc -mcpu=gfx906 -filetype=obj %t.ll -o %t.o
; CHECK: define {{.*}} @k.kprobe(
; CHECK: define {{.*}} @k.sampled.kprobe(

target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %i
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %value = load i32, ptr addrspace(1) %at
  %twice = mul i32 %n, 3
  %sum = add i32 %value, %twice
  store i32 %sum, ptr addrspace(1) %at
  %j.next = add i32 %j, 1
  %more = icmp ult i32 %j.next, %item
  br i1 %more, label %inner, label %latch
latch:
  %i.next = add i32 %i, 1
  %again = icmp ult i32 %i.next, %n
  br i1 %again, label %outer, label %exit
exit:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { nounwind "target-cpu"="gfx906" }
