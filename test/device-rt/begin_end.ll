; The hooks as they are in a kernel: no branch, no LDS, no scratch, no atomic; the
; begin hook reads the packet and the context by scalar loads, the state it leaves
; is uniform, and every header field it owns is stored once.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 -verify-machineinstrs -o %t.s
; RUN: FileCheck %s --check-prefixes=CHECK,%LLVM --implicit-check-not=branch --implicit-check-not=ds_ \
; RUN:   --implicit-check-not=buffer_ --implicit-check-not=atomic \
; RUN:   --implicit-check-not=global_load --implicit-check-not=flat_load --implicit-check-not=flat_store < %t.s

target triple = "amdgcn-amd-amdhsa"

; CHECK-LABEL: {{^}}k.kprobe:
; The packet's context pointer (byte 48), then the context (7 dwords from 0).
; CHECK: s_load_dwordx2 s{{\[[0-9]+:[0-9]+\]}}, s[4:5], 0x30
; CHECK-DAG: s_load_dwordx2 s{{\[[0-9]+:[0-9]+\]}}, s{{\[[0-9]+:[0-9]+\]}}, 0x0
; LLVM15-DAG: s_load_dwordx4 s{{\[[0-9]+:[0-9]+\]}}, s{{\[[0-9]+:[0-9]+\]}}, 0x8
; LLVM15-DAG: s_load_dwordx4 s{{\[[0-9]+:[0-9]+\]}}, s{{\[[0-9]+:[0-9]+\]}}, 0x18
; LLVM19-DAG: s_load_dwordx8 s{{\[[0-9]+:[0-9]+\]}}, s{{\[[0-9]+:[0-9]+\]}}, 0x8
; Both clocks, with one wait.
; CHECK: s_memrealtime
; CHECK-NEXT: s_memtime
; CHECK: s_mov_b64 s[70:71],
; CHECK-NEXT: s_mov_b32 s73,
; CHECK-NEXT: s_mov_b32 s72, 0
; The end hook.
; CHECK: s_mov_b64 [[RING:s\[[0-9]+:[0-9]+\]]], s[70:71]
; CHECK-NEXT: s_mov_b32 [[CURSOR:s[0-9]+]], s72
; CHECK: s_memtime
; CHECK-NEXT: s_memrealtime
; CHECK-NEXT: s_waitcnt lgkmcnt(0)
; CHECK: global_store_dwordx4 v{{[0-9]+}}, v{{\[[0-9]+:[0-9]+\]}}, [[RING]] offset:-80
; CHECK: v_mov_b32_e32 {{v[0-9]+}}, 0x53444e45
; CHECK: v_mov_b32_e32 {{v[0-9]+}}, [[CURSOR]]
; CHECK: global_store_dwordx2 v{{[0-9]+}}, v{{\[[0-9]+:[0-9]+\]}}, [[RING]] offset:-128
; CHECK-NEXT: s_endpgm
define amdgpu_kernel void @k() #0 {
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
