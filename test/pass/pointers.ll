; What is called through a pointer, or has no body here, runs as it is: by the
; calling convention it gives the state registers back as it found them.
;
; REQUIRES: llvm15 || llvm19
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s -o %t.bc
; RUN: %opt -S %t.bc | FileCheck %s --check-prefix=IR
; RUN: %llc -mcpu=gfx906 %t.bc -o - | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; IR-NOT: @target.kprobe
; CHECK-LABEL: {{^}}target:
; CHECK: v_writelane_b32 [[SAVED:v[0-9]+]], s72, [[LANE:[0-9]+]]
; CHECK: s_mov_b32 s72, 5
; CHECK: v_readlane_b32 s72, [[SAVED]], [[LANE]]
define internal void @target() #0 {
  call void asm sideeffect "s_mov_b32 s72, 5", "~{s72}"()
  ret void
}

; IR: define amdgpu_kernel void @k.kprobe(
; IR: call void %f()
; IR: call void @outside()
define amdgpu_kernel void @k(ptr %f) #0 {
  call void %f()
  call void @outside()
  call void %f()
  ret void
}

@table = addrspace(1) global [1 x ptr] [ptr @target]
declare void @outside() #0

attributes #0 = { nounwind "target-cpu"="gfx906" }
