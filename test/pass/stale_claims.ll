; A kernel said to need none of its y and z indices gets them in the clone, whose
; begin hook reads them; the original does without. The packet is not read.
;
; REQUIRES: llvm15 || llvm19
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe %s | \
; RUN:   %llc -mcpu=gfx906 | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; CHECK: .amdhsa_kernel k{{$}}
; CHECK: .amdhsa_user_sgpr_dispatch_ptr 0
; CHECK: .amdhsa_system_sgpr_workgroup_id_y 0
; CHECK: .amdhsa_system_vgpr_workitem_id 0
; CHECK: .amdhsa_kernel k.kprobe{{$}}
; CHECK: .amdhsa_user_sgpr_dispatch_ptr 0
; CHECK: .amdhsa_user_sgpr_kernarg_segment_ptr 1
; CHECK: .amdhsa_system_sgpr_workgroup_id_x 1
; CHECK: .amdhsa_system_sgpr_workgroup_id_y 1
; CHECK: .amdhsa_system_sgpr_workgroup_id_z 1
; CHECK: .amdhsa_system_vgpr_workitem_id 2
define amdgpu_kernel void @k(ptr addrspace(1) %p) #0 {
  store i32 1, ptr addrspace(1) %p
  ret void
}

attributes #0 = { nounwind "target-cpu"="gfx906" "amdgpu-no-dispatch-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-implicitarg-ptr" "amdgpu-no-hostcall-ptr" }
