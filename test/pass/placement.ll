; Which blocks do without an event: the entry, which the header tells of, and short
; ones that run exactly when another does. Not those that take time (a load, a
; barrier, many instructions), nor any with a call on the way to it, nor any in
; irreducible flow. Other short ones have no clock, but for those around a loop
; without one; block=all leaves none out.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe,verify %s -o %t.bc
; RUN: %llc -mcpu=gfx906 -filetype=obj %t.bc -o %t.o
; RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.o /dev/null
; RUN: kprobe-sitedump %t.sites | FileCheck %s
; RUN: %python %S/Inputs/sites_once.py %t.o %t.sites
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>' %s -o %t.all.bc
; RUN: %llc -mcpu=gfx906 -filetype=obj %t.all.bc -o %t.all.o
; RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.all.sites %t.all.o /dev/null
; RUN: kprobe-sitedump %t.all.sites | FileCheck %s --check-prefix=ALL
; ALL-NOT: {{implied|omitted|untimed}}

target triple = "amdgcn-amd-amdhsa"

; entry, then, join (told of by entry), loop with a load, exit (told of by join,
; behind the loop).
; CHECK: site 0 {{.*}} entry implied depth 0
; CHECK: site 1 {{.*}}?:0 untimed depth 0
; CHECK: site 2 {{.*}}?:0 omitted depth 0
; CHECK: site 3 {{.*}}?:0 header depth 1
; CHECK: site 4 {{.*}}?:0 returns omitted depth 0
define amdgpu_kernel void @joins(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %some = icmp ult i32 %item, 13
  br i1 %some, label %then, label %join
then:
  store i32 1, ptr addrspace(1) %p
  br label %join
join:
  %v = phi i32 [ 1, %entry ], [ 2, %then ]
  br label %loop
loop:
  %i = phi i32 [ %v, %join ], [ %next, %loop ]
  %k = load volatile i32, ptr addrspace(1) %p
  %next = add i32 %i, %k
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  store i32 %next, ptr addrspace(1) %p
  ret void
}

; The same with a load, a barrier, and a call on the way.
; CHECK: site 7 {{.*}}?:0 returns depth 0
define amdgpu_kernel void @loads(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %some = icmp ult i32 %n, 13
  br i1 %some, label %then, label %join
then:
  store i32 1, ptr addrspace(1) %p
  br label %join
join:
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(1) %p
  ret void
}
; CHECK: site 10 {{.*}}?:0 returns depth 0
define amdgpu_kernel void @waits(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %some = icmp ult i32 %n, 13
  br i1 %some, label %then, label %join
then:
  store i32 1, ptr addrspace(1) %p
  br label %join
join:
  call void @llvm.amdgcn.s.barrier()
  ret void
}
; CHECK: site 13 {{.*}}?:0 returns untimed depth 0
define amdgpu_kernel void @calls(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %some = icmp ult i32 %n, 13
  br i1 %some, label %then, label %join
then:
  call void @outside()
  br label %join
join:
  ret void
}

; Two entries into one cycle.
; CHECK: site 14 {{.*}} entry implied depth 0
; CHECK-NOT: omitted
; CHECK: site 17
define amdgpu_kernel void @irreducible(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %some = icmp ult i32 %n, 13
  br i1 %some, label %one, label %two
one:
  store i32 1, ptr addrspace(1) %p
  br label %two
two:
  %k = load volatile i32, ptr addrspace(1) %p
  %again = icmp ult i32 %k, 7
  br i1 %again, label %one, label %exit
exit:
  ret void
}

; A loop without a clock: there is one before it and one behind it.
; CHECK: site {{[0-9]+}} {{.*}} entry implied depth 0
; CHECK: site {{[0-9]+}} {{.*}}?:0 untimed depth 0
; CHECK: site {{[0-9]+}} {{.*}}?:0 depth 0
; CHECK: site {{[0-9]+}} {{.*}}?:0 header untimed depth 1
; CHECK: site {{[0-9]+}} {{.*}}?:0 returns depth 0
define amdgpu_kernel void @spins(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %some = icmp ult i32 %n, 13
  br i1 %some, label %then, label %join
then:
  store i32 1, ptr addrspace(1) %p
  br label %join
join:
  br label %loop
loop:
  %i = phi i32 [ 0, %join ], [ %next, %loop ]
  %next = add i32 %i, 3
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  store i32 %next, ptr addrspace(1) %p
  ret void
}

declare void @outside() #0
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier() convergent

attributes #0 = { nounwind "target-cpu"="gfx906" }
