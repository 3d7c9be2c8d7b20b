; A block that no lane enters is skipped, however short: its probe would move the
; cursor, which is there because of the loop. Without the probe the compiler drops
; such a branch.
;
; RUN: %llc -mcpu=gfx906 %s -o - | FileCheck %s --check-prefix=PLAIN
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>' %s | \
; RUN:   %llc -mcpu=gfx906 | FileCheck %s
; RUN: sed 's/"gfx906"/"gfx1030"/' %s | %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>' | \
; RUN:   %llc -mcpu=gfx1030 | FileCheck %s --check-prefix=RDNA
; RUN: sed 's/"gfx906"/"gfx1100"/' %s | %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>' | \
; RUN:   %llc -mcpu=gfx1100 | FileCheck %s --check-prefix=RDNA

target triple = "amdgcn-amd-amdhsa"

; PLAIN-LABEL: {{^}}k:
; PLAIN: s_and_saveexec_b64
; PLAIN-NOT: s_cbranch_execz
; PLAIN: s_or_b64 exec
; PLAIN: s_endpgm
; CHECK-LABEL: {{^}}k.kprobe:
; CHECK: s_and_saveexec_b64
; CHECK-NEXT: s_cbranch_execz [[JOIN:\.LBB[0-9_]+]]
; CHECK: s_add_u32 s72, s72, 8
; CHECK: [[JOIN]]:
; CHECK: s_endpgm
; RDNA-LABEL: {{^}}k.kprobe:
; RDNA: s_and_saveexec_b32
; RDNA-NEXT: s_cbranch_execz [[JOIN:\.LBB[0-9_]+]]
; RDNA: s_add_u32 s100, s100, 8
; RDNA: [[JOIN]]:
; RDNA: s_endpgm
define amdgpu_kernel void @k(ptr addrspace(3) %p, i32 %n) #0 {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %some = icmp ult i32 %item, 3
  br i1 %some, label %then, label %join
then:
  br label %join
join:
  %v = phi i32 [ 5, %0 ], [ 7, %then ]
  store i32 %v, ptr addrspace(3) %p
  br label %loop
loop:
  %i = phi i32 [ 0, %join ], [ %next, %loop ]
  store volatile i32 %i, ptr addrspace(3) %p
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()

attributes #0 = { nounwind "target-cpu"="gfx906" }
