; Levels: a function's begin and ends; also where loops begin and where they end;
; blocks. Filters by function and by source leave out the rest; a kernel's entry
; is in the wave's header whatever they say.
;
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<level=function>,verify' %s -o %t.bc
; RUN: %llc -mcpu=gfx906 -filetype=obj %t.bc -o %t.o
; RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.o /dev/null
; RUN: kprobe-sitedump %t.sites | FileCheck %s --check-prefix=FUNCTION
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<level=loop>' %s -o %t.bc
; RUN: %llc -mcpu=gfx906 -filetype=obj %t.bc -o %t.o
; RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.o /dev/null
; RUN: kprobe-sitedump %t.sites | FileCheck %s --check-prefix=LOOP
; RUN: %opt -load-pass-plugin=%plugin -passes='kprobe<functions=/^ste.$/>' %s -o %t.bc
; RUN: %llc -mcpu=gfx906 -filetype=obj %t.bc -o %t.o
; RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.o /dev/null
; RUN: kprobe-sitedump %t.sites | FileCheck %s --check-prefix=STEP
; RUN: env 'KPROBE_PASS=source=sr?/k.hip:4-5;block=all' %opt -load-pass-plugin=%plugin -passes=kprobe %s -o %t.bc
; RUN: %llc -mcpu=gfx906 -filetype=obj %t.bc -o %t.o
; RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.o /dev/null
; RUN: kprobe-sitedump %t.sites | FileCheck %s --check-prefix=LINES
;
; FUNCTION: site 0 {{.*}} entry implied depth 0
; FUNCTION: site 1 {{.*}} header left-out depth 1
; FUNCTION: site 2 {{.*}} left-out depth 1
; FUNCTION: site 3 {{.*}} calls left-out depth 1
; FUNCTION: site 4 {{.*}} returns left-out depth 0
; FUNCTION: site 5 {{.*}} entry depth 0
; FUNCTION: site 6 {{.*}} left-out depth 0
; FUNCTION: site 7 {{.*}} returns depth 0
; LOOP: site 1 {{.*}} header depth 1
; LOOP: site 2 {{.*}} left-out depth 1
; LOOP: site 3 {{.*}} calls left-out depth 1
; LOOP: site 4 {{.*}} returns depth 0
; LOOP: site 5 {{.*}} entry depth 0
; LOOP: site 6 {{.*}} left-out depth 0
; STEP: site 0 {{.*}} entry implied depth 0
; STEP: site 1 {{.*}} header left-out depth 1
; STEP: site 4 {{.*}} returns left-out depth 0
; STEP: site 5 {{.*}} entry depth 0
; STEP: site 6 {{.*}} untimed depth 0
; LINES: site 0 {{.*}} entry left-out depth 0
; LINES: site 1 {{.*}} header depth 1
; LINES: site 2 {{.*}} k.hip:5{{.*}} depth 1
; LINES-NOT: left-out
; LINES: site 3 {{.*}} calls left-out depth 1
;
; RUN: not %opt -load-pass-plugin=%plugin -passes='kprobe<source=k.hip:9-3>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ORDER
; ORDER: error: kprobe: lines of 'k.hip:9-3' end before they begin
; RUN: env 'KPROBE_PASS=kernels=/a(b/' not %opt -load-pass-plugin=%plugin -passes=kprobe -disable-output %s 2>&1 | FileCheck %s --check-prefix=REGEX
; REGEX: error: kprobe: KPROBE_PASS: bad regular expression '/a(b/'

target triple = "amdgcn-amd-amdhsa"

define internal i32 @step(i32 %x) noinline #0 {
  %odd = trunc i32 %x to i1
  br i1 %odd, label %more, label %done
more:
  br label %done
done:
  %y = phi i32 [ %x, %0 ], [ 7, %more ]
  ret i32 %y
}

define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) #0 !dbg !5 {
entry:
  br label %loop, !dbg !10
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  %v = load volatile i32, ptr addrspace(1) %p, !dbg !11
  %some = icmp ult i32 %v, 13, !dbg !11
  br i1 %some, label %then, label %join, !dbg !11
then:
  store volatile i32 1, ptr addrspace(1) %p, !dbg !12
  br label %join, !dbg !12
join:
  %w = call i32 @step(i32 %v), !dbg !13
  %next = add i32 %i, %w, !dbg !13
  %again = icmp ult i32 %next, %n, !dbg !13
  br i1 %again, label %loop, label %exit, !dbg !13
exit:
  ret void, !dbg !13
}

attributes #0 = { nounwind "target-cpu"="gfx906" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.hip", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !4)
!4 = !{null}
!5 = distinct !DISubprogram(name: "k", file: !1, line: 2, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!10 = !DILocation(line: 3, scope: !5)
!11 = !DILocation(line: 4, scope: !5)
!12 = !DILocation(line: 5, scope: !5)
!13 = !DILocation(line: 6, scope: !5)
