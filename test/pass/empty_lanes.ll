; A block that no lane enters is skipped, however short: its probe would move the
; cursor. Without the probe the compiler drops such a branch.
;
; RUN: %llc -mcpu=gfx906 %s -o - | FileCheck %s --check-prefix=PLAIN
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>' %s | \
; RUN:   %llc -mcpu=gfx906 | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; PLAIN-LABEL: {{^}}k:
; PLAIN: s_and_saveexec_b64
; PLAIN-NOT: s_cbranch_execz
; PLAIN: s_endpgm
; CHECK-LABEL: {{^}}k.kprobe:
; CHECK: s_and_saveexec_b64
; CHECK-NEXT: s_cbranch_execz [[JOIN:\.LBB[0-9_]+]]
; CHECK: s_add_u32 s72, s72, 8
; CHECK: [[JOIN]]:
; CHECK: s_endpgm
define amdgpu_kernel void @k(ptr addrspace(3) %p) #0 {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %some = icmp ult i32 %item, 3
  br i1 %some, label %then, label %join
then:
  br label %join
join:
  %v = phi i32 [ 5, %0 ], [ 7, %then ]
  store i32 %v, ptr addrspace(3) %p
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { nounwind "target-cpu"="gfx906" }
