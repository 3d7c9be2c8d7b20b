; The state registers are out of the program's reach whatever limits the user
; set: a smaller one stays, a bound on the waves that would void it goes.
;
; RUN: %opt -load-pass-plugin=%plugin -passes=kprobe -S %s | FileCheck %s

target triple = "amdgcn-amd-amdhsa"

; CHECK: @small.kprobe() #[[SMALL:[0-9]+]]
define amdgpu_kernel void @small() #0 {
  ret void
}
; CHECK: @waves.kprobe() #[[WAVES:[0-9]+]]
define amdgpu_kernel void @waves() #1 {
  ret void
}
; CHECK: @tiny.kprobe() #[[TINY:[0-9]+]]
define amdgpu_kernel void @tiny() #2 {
  ret void
}

; CHECK-DAG: attributes #[[SMALL]] = {{.*}}"amdgpu-num-sgpr"="24"
; CHECK-DAG: attributes #[[WAVES]] = {{.*}}"amdgpu-num-sgpr"="70" "amdgpu-waves-per-eu"="2"
; CHECK-DAG: attributes #[[TINY]] = {{.*}}"amdgpu-num-sgpr"="70"
attributes #0 = { nounwind "target-cpu"="gfx906" "amdgpu-num-sgpr"="24" }
attributes #1 = { nounwind "target-cpu"="gfx906" "amdgpu-waves-per-eu"="2,4" }
attributes #2 = { nounwind "target-cpu"="gfx906" "amdgpu-num-sgpr"="4" }
