; A wave of 32 lanes counts the lower half of EXEC.
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>' %s | \
; RUN:   %llc -mcpu=gfx1030 | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; CHECK-LABEL: {{^}}k32.kprobe:
; CHECK: s_memtime
; CHECK: s_add_u32 s96, s{{[0-9]+}}, s{{[0-9]+}}
; CHECK: s_bcnt1_i32_b32 [[TAG:s[0-9]+]], exec_lo
; CHECK-NEXT: s_lshl4_add_u32 [[TAG]], [[TAG]], {{-15|4294967281}}
; CHECK: buffer_store_dwordx2 v[{{[0-9]+:[0-9]+}}], off, s[96:99], 0 offset:128
define amdgpu_kernel void @k32() #0 {
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx1030" }
