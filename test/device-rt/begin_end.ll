; What a wave does first and last, in a kernel: scalar instructions but for the
; lines it stores, no branch, no LDS, no scratch, no atomic; the context
; comes by a scalar load from before the arguments, with nothing to wait for on the
; way to it, and each header field that is the device's is stored once. Where waves
; are sampled, one scalar branch leads those that are not past all of it.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 -verify-machineinstrs -o %t.s
; RUN: FileCheck %s --implicit-check-not=branch --implicit-check-not=ds_ \
; RUN:   --implicit-check-not=buffer_load --implicit-check-not=atomic \
; RUN:   --implicit-check-not=v_cndmask --implicit-check-not=v_cmp \
; RUN:   --implicit-check-not=v_mul --implicit-check-not=global_load --implicit-check-not=global_store \
; RUN:   --implicit-check-not=flat_load --implicit-check-not=flat_store < %t.s
; RUN: sed -n '/^k.kprobe:/,/s_endpgm/p' %t.s | grep -c '^	[sv]_\|^	buffer_' | \
; RUN:   %python %S/Inputs/at_most.py 45
; RUN: sed -n '/^k.sampled.kprobe:/,/s_endpgm/p' %t.s | grep -c '^	[sv]_\|^	buffer_' | \
; RUN:   %python %S/Inputs/at_most.py 60

target triple = "amdgcn-amd-amdhsa"

; CHECK-LABEL: {{^}}k.kprobe:
; CHECK-DAG: s_memtime
; CHECK-DAG: s_memrealtime
; CHECK-DAG: s_load_dwordx16 s{{\[[0-9]+:[0-9]+\]}}, s[4:5], {{-0x40|0x0}}
; CHECK-NOT: s_load
; CHECK: s_add_u32 s68, s{{[0-9]+}}, s{{[0-9]+}}
; CHECK-NEXT: s_addc_u32 s69, s{{[0-9]+}}, 0
; CHECK-NEXT: s_mov_b32 s70, -1
; CHECK-NEXT: s_mov_b32 s71, 0x27000
; Clocks, place and lanes at the begin; clocks at the end. (The one block needs no
; event, and without a loop there is no cursor.)
; CHECK: buffer_store_dwordx4 v{{\[[0-9]+:[0-9]+\]}}, off, s[68:71], 0 offset:32
; CHECK-NEXT: buffer_store_dword v{{[0-9]+}}, off, s[68:71], 0 offset:64
; CHECK-NEXT: buffer_store_dwordx2 v{{\[[0-9]+:[0-9]+\]}}, off, s[68:71], 0 offset:72
; CHECK: buffer_store_dwordx4 v{{\[[0-9]+:[0-9]+\]}}, off, s[68:71], 0 offset:48
; CHECK-NOT: buffer_store
; CHECK: s_endpgm
; CHECK-LABEL: {{^}}k.sampled.kprobe:
; CHECK: s_cbranch_scc1 [[PLAIN:\.LBB[0-9_]+]]
; CHECK: s_add_u32 s68, s{{[0-9]+}}, s{{[0-9]+}}
; CHECK-NEXT: s_addc_u32 s69, s{{[0-9]+}}, 0
; CHECK-COUNT-4: buffer_store
; CHECK: s_endpgm
define amdgpu_kernel void @k() #0 {
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
