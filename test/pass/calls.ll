; Functions with bodies are cloned for each kernel that calls them, also when
; recursive, and the cursor survives the call: a clone does not save it.
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<block=all>' %s -o %t.bc
; RUN: %opt -passes=verify -S %t.bc | FileCheck %s --check-prefix=IR
; RUN: %llc -mcpu=gfx906 %t.bc -o - | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

define internal i32 @shared(i32 %n) noinline #0 {
  %stop = icmp ult i32 %n, 2
  br i1 %stop, label %end, label %more
more:
  %m = sub i32 %n, 1
  %r = call i32 @shared(i32 %m)
  %s = add i32 %r, %n
  ret i32 %s
end:
  ret i32 %n
}

define amdgpu_kernel void @a(ptr addrspace(1) %p, i32 %n) #0 {
  %r = call i32 @shared(i32 %n)
  store i32 %r, ptr addrspace(1) %p
  ret void
}

define amdgpu_kernel void @b(ptr addrspace(1) %p) #0 {
  %r = call i32 @shared(i32 7)
  store i32 %r, ptr addrspace(1) %p
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" }

; The originals still call the original.
; IR: define internal i32 @shared(
; IR: call i32 @shared(
; IR: define amdgpu_kernel void @a(
; IR: call i32 @shared(
; IR: define amdgpu_kernel void @b(
; IR: call i32 @shared(

; In a clone the event is written before the call.
; IR: define amdgpu_kernel void @a.kprobe(
; IR: buffer_store_dwordx2
; IR: call i32 @shared.kprobe.a(
; IR-NOT: buffer_store_dwordx2
; IR: ret void
; IR: define internal i32 @shared.kprobe.a(
; IR: {{^}}more:
; IR: buffer_store_dwordx2
; IR: call i32 @shared.kprobe.a(
; IR: define amdgpu_kernel void @b.kprobe(
; IR: call i32 @shared.kprobe.b(
; IR: define internal i32 @shared.kprobe.b(
; IR: call i32 @shared.kprobe.b(

; CHECK-LABEL: {{^}}shared.kprobe.a:
; CHECK-NOT: {{v_(write|read)lane_b32.*s(6[89]|7[0-3])}}
; CHECK-COUNT-3: s_add_u32 s72, s72, 8
; CHECK-NOT: {{v_(write|read)lane_b32.*s(6[89]|7[0-3])}}
; CHECK: s_setpc_b64
