; The hooks as they are in a kernel: scalar instructions but for the lines they
; store, one scalar branch, no LDS, no scratch, no atomic; packet and context come
; by scalar loads, and each header field that is the device's is stored once. A
; wave that is not sampled ends without any of it.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 -verify-machineinstrs -o %t.s
; RUN: FileCheck %s --implicit-check-not=branch --implicit-check-not=sink --implicit-check-not=ds_ \
; RUN:   --implicit-check-not=buffer_ --implicit-check-not=atomic \
; RUN:   --implicit-check-not=v_cndmask --implicit-check-not=v_cmp \
; RUN:   --implicit-check-not=v_mad --implicit-check-not=v_mul \
; RUN:   --implicit-check-not=global_load --implicit-check-not=flat_load --implicit-check-not=flat_store < %t.s
; RUN: sed -n '/^k.kprobe:/,/s_endpgm/p' %t.s | grep -c '^	[sv]_\|^	global_' | \
; RUN:   %python %S/Inputs/at_most.py 95

target triple = "amdgcn-amd-amdhsa"

; CHECK-LABEL: {{^}}k.kprobe:
; The packet's context pointer (byte 48), then the context, whose address depends
; on it.
; CHECK: s_load_dwordx2 s{{\[[0-9]+:[0-9]+\]}}, s[4:5], 0x30
; CHECK: s_cselect_b64
; CHECK: s_load_dwordx
; Slot or none.
; CHECK: s_cbranch_scc1 [[PLAIN:\.LBB[0-9_]+]]
; CHECK: s_mov_b64 s[70:71], s{{\[[0-9]+:[0-9]+\]}}
; CHECK-NEXT: s_mov_b32 s73, s{{[0-9]+}}
; CHECK-NEXT: s_mov_b32 s72, 0
; Header: state, clocks, place and lanes; then the end. (The one block needs no
; event.)
; CHECK-DAG: global_store_dword v{{[0-9]+}}, v{{[0-9]+}}, s{{\[[0-9]+:[0-9]+\]}} offset:-128
; CHECK-DAG: global_store_dwordx4 v{{[0-9]+}}, v{{\[[0-9]+:[0-9]+\]}}, s{{\[[0-9]+:[0-9]+\]}} offset:{{-96|32}}
; CHECK-DAG: global_store_dwordx4 v{{[0-9]+}}, v{{\[[0-9]+:[0-9]+\]}}, s{{\[[0-9]+:[0-9]+\]}} offset:{{-64|64}}
; CHECK-DAG: global_store_dwordx4 v{{[0-9]+}}, v{{\[[0-9]+:[0-9]+\]}}, s{{\[[0-9]+:[0-9]+\]}} offset:{{-80|48}}
; CHECK-DAG: global_store_dwordx2 v{{[0-9]+}}, v{{\[[0-9]+:[0-9]+\]}}, s{{\[[0-9]+:[0-9]+\]}} offset:-128
; CHECK: s_endpgm
define amdgpu_kernel void @k() #0 {
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
