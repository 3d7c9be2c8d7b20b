; A wave that is not sampled runs the original's blocks and calls the original's
; callees, on the LDS that the sampled waves of its workgroup use. A function that
; uses LDS is copied for it where the clone has its own.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe,verify -S %s | FileCheck %s --check-prefixes=CHECK,%LLVM
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | %llc -mcpu=gfx906 -filetype=obj -o %t.o

target triple = "amdgcn-amd-amdhsa"

@own = internal addrspace(3) global [64 x float] undef, align 4
@shared = internal addrspace(3) global [64 x float] undef, align 4

define internal float @step(float %x) noinline #0 {
  %y = fmul float %x, 3.0
  ret float %y
}

; CHECK-LABEL: define {{.*}} @plainly.sampled.kprobe(
; CHECK: [[SAMPLED:%[0-9a-z.]+]] = icmp ult i32
; CHECK-NEXT: br i1 [[SAMPLED]], label %entry.probed, label %entry.probed.plain
; CHECK: {{^}}entry.probed:
; CHECK: asm sideeffect
; CHECK: @own.sampled.kprobe.plainly
; CHECK: call float @step.sampled.kprobe.plainly(
; CHECK: {{^}}entry.probed.plain:
; CHECK-NOT: asm
; CHECK: br i1 {{.*}}, label %loop.plain, label %exit.plain
; CHECK: {{^}}loop.plain:
; CHECK-NEXT: phi i32 [ 0, %entry.probed.plain ], [ {{.*}}, %loop.plain ]
; CHECK-NOT: asm
; CHECK: getelementptr {{.*}} @own.sampled.kprobe.plainly
; CHECK: call float @step(
; CHECK-NOT: asm
; CHECK: {{^}}exit.plain:
; CHECK-NEXT: ret void
; CHECK-NEXT: }
define amdgpu_kernel void @plainly(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %exit
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr [64 x float], ptr addrspace(3) @own, i32 0, i32 %i
  %x = load float, ptr addrspace(3) %place
  %y = call float @step(float %x)
  store float %y, ptr addrspace(1) %p
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  ret void
}

define internal void @put(float %x) noinline #0 {
  store float %x, ptr addrspace(3) @shared
  ret void
}

; Before the first call, which may be in the entry block.
; CHECK-LABEL: define {{.*}} @calling.sampled.kprobe(
; CHECK: br i1 {{.*}}, label %entry.probed, label %entry.probed.plain
; CHECK: {{^}}entry.probed:
; CHECK: call void @put.sampled.kprobe.calling(
; CHECK: {{^}}entry.probed.plain:
; LLVM15-NEXT: call void @put(
; LLVM19-NEXT: call void @put.kprobe.plain.calling(
; LLVM22-NEXT: call void @put.kprobe.plain.calling(
; CHECK-NEXT: ret void
; CHECK-NEXT: }
define amdgpu_kernel void @calling(float %x) #0 {
entry:
  call void @put(float %x)
  ret void
}

; LLVM19: define internal void @put.kprobe.plain.calling(
; LLVM19-NEXT: store float %x, ptr addrspace(3) @shared.sampled.kprobe.calling
; LLVM22: define internal void @put.kprobe.plain.calling(
; LLVM22-NEXT: store float %x, ptr addrspace(3) @shared.sampled.kprobe.calling

attributes #0 = { nounwind "target-cpu"="gfx906" }
