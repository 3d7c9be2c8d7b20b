; An event is written before whatever does not come back to its block: a tail
; call, a trap, the end of the wave; and before a terminator with no successor.
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>,verify' -S %s | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

define internal void @leaf(i32 %n) noinline #0 {
  ret void
}

; CHECK: define internal void @tail.kprobe.k(
; CHECK: buffer_store_dwordx2
; CHECK-NEXT: musttail call void @leaf.kprobe.k(
; CHECK-NEXT: ret void
define internal void @tail(i32 %n) noinline #0 {
  musttail call void @leaf(i32 %n)
  ret void
}

define amdgpu_kernel void @k(i32 %n) #0 {
  call void @tail(i32 %n)
  ret void
}

; CHECK: define amdgpu_kernel void @ends.kprobe(
; CHECK: {{^}}trap:
; CHECK: buffer_store_dwordx2
; CHECK-NEXT: call void @llvm.trap()
; CHECK-NEXT: unreachable
; CHECK: {{^}}last:
; CHECK: buffer_store_dwordx2
; CHECK-NEXT: call void @llvm.amdgcn.endpgm()
; CHECK: {{^}}never:
; CHECK: buffer_store_dwordx2
; CHECK-NEXT: unreachable
define amdgpu_kernel void @ends(i32 %n) #0 {
  switch i32 %n, label %trap [ i32 1, label %last
                               i32 2, label %never ]
trap:
  call void @llvm.trap()
  unreachable
last:
  call void @llvm.amdgcn.endpgm()
  unreachable
never:
  unreachable
}

declare void @llvm.trap()
declare void @llvm.amdgcn.endpgm()

attributes #0 = { nounwind "target-cpu"="gfx906" }
