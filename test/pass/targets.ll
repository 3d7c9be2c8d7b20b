; Every processor of targets.def that this LLVM knows: a kernel with a loop, a
; branch, a barrier and a call compiles with probes, with no optimisation and with
; all; the clocks, the place register and the state are those of its generation
; (Inputs/all_targets.py has the table, written from the ISA manuals), and no clock is
; used before there was a wait for it.
;
; RUN: %python %S/Inputs/all_targets.py %kprobe_src/device-rt/include/kprobe/targets.def %opt %llc %plugin %s

target triple = "amdgcn-amd-amdhsa"

@buffer = internal addrspace(3) global [64 x float] undef, align 4

define internal float @step(float %x) noinline #0 {
  %small = fcmp olt float %x, 4.0
  br i1 %small, label %more, label %done
more:
  %y = fmul float %x, 3.0
  ret float %y
done:
  ret float %x
}

define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %slot = and i32 %item, 63
  %place = getelementptr [64 x float], ptr addrspace(3) @buffer, i32 0, i32 %slot
  store float 1.0, ptr addrspace(3) %place
  call void @llvm.amdgcn.s.barrier()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %value = load float, ptr addrspace(3) %place
  %called = call float @step(float %value)
  %more = fadd float %sum, %called
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  %some = icmp ult i32 %item, 7
  br i1 %some, label %write, label %end
write:
  %at = getelementptr float, ptr addrspace(1) %p, i32 %item
  store float %more, ptr addrspace(1) %at
  br label %end
end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier() convergent

attributes #0 = { nounwind "target-cpu"="CPU" }
