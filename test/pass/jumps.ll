; Ways of control flow that no structure comes of: a jump out of assembly, a block
; that jumps to itself, a loop without an end. They compile with probes as without, and
; each site is in the code once.
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>,verify' %s -o %t.bc
; RUN: %llc -mcpu=gfx906 -filetype=obj %t.bc -o %t.o
; RUN: %python %S/Inputs/sites_once.py %t.o %t.sites | FileCheck %s
; CHECK: 6 sites, 12 tags, 12 stores

target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @leaps(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  callbr void asm sideeffect "s_nop 0", "!i"() to label %a [label %b]
a:
  store volatile i32 1, ptr addrspace(1) %p
  br label %b
b:
  %v = load volatile i32, ptr addrspace(1) %p
  %c = icmp ult i32 %v, 7
  br i1 %c, label %b, label %end
end:
  ret void
}

define amdgpu_kernel void @forever(ptr addrspace(1) %p) #0 {
entry:
  br label %l
l:
  %v = load volatile i32, ptr addrspace(1) %p
  br label %l
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
