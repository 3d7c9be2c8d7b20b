// However a program ends, with a kernel that still runs or never ends, from a
// second thread, by exit or by a return, its exit status is its own; and the
// child of a fork neither hangs nor takes the device from its parent.
// REQUIRES: vgpu
// RUN: %hipcc -O3 -x hip %s -o %t -lpthread
// RUN: timeout 60 kprobe-vgpu -- %t return; test $? -eq 3
// RUN: timeout 60 kprobe-vgpu -- %t exit; test $? -eq 4
// RUN: timeout 60 kprobe-vgpu -- %t _exit; test $? -eq 7
// RUN: timeout 60 kprobe-vgpu -- %t thread; test $? -eq 5
// RUN: timeout 60 kprobe-vgpu -- %t quick; test $? -eq 6
// RUN: timeout 60 kprobe-vgpu -- %t fork | FileCheck %s
// CHECK: passed
// RUN: timeout 60 kprobe-vgpu -- %t use 2>%t.err | FileCheck %s
// RUN: FileCheck --check-prefix=CHILD %s <%t.err
// CHILD: kprobe-vgpu: error: the child of a fork cannot use the device of its parent
#include "Inputs/check.h"

#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void endless(int *Cell) {
  while (__atomic_load_n(Cell, __ATOMIC_RELAXED) == 0)
    ;
}

__global__ void set(int *Cell, int Value) { *Cell = Value; }

static int *Cell;

static void child() {
  // A child that leaves by exec, the usual way, and ones that just leave.
  for (int Way : {0, 1, 2}) {
    const pid_t Child = fork();
    EXPECT(Child >= 0, "fork");
    if (Child == 0) {
      if (Way == 0)
        execl("/bin/true", "true", static_cast<char *>(nullptr));
      if (Way == 1)
        _exit(0);
      exit(0);
    }
    int Status = -1;
    EXPECT(waitpid(Child, &Status, 0) == Child && Status == 0, "status %x",
           Status);
    set<<<1, 1>>>(Cell, 7 + Way);
    int Value = 0;
    HIP(hipMemcpy(&Value, Cell, 4, hipMemcpyDeviceToHost));
    EXPECT(Value == 7 + Way, "%d", Value);
  }
}

static void childThatUsesTheDevice() {
  const pid_t Child = fork();
  EXPECT(Child >= 0, "fork");
  if (Child == 0) {
    // What enters the driver fails; what only rings a doorbell cannot.
    void *More = nullptr;
    if (hipMalloc(&More, 1 << 20) == hipSuccess)
      _exit(1);
    int Value;
    (void)hipMemcpy(&Value, Cell, 4, hipMemcpyDeviceToHost);
    _exit(0);
  }
  int Status = -1;
  EXPECT(waitpid(Child, &Status, 0) == Child, "waitpid");
  EXPECT(WIFSIGNALED(Status) && WTERMSIG(Status) == SIGABRT, "status %x", Status);
}

int main(int, char **Args) {
  HIP(hipMalloc(&Cell, 4));
  HIP(hipMemset(Cell, 0, 4));
  HIP(hipDeviceSynchronize());
  if (std::strcmp(Args[1], "fork") == 0) {
    child();
    return passed();
  }
  if (std::strcmp(Args[1], "use") == 0) {
    childThatUsesTheDevice();
    return passed();
  }
  if (std::strcmp(Args[1], "return") == 0)
    return 3;
  endless<<<1, 64>>>(Cell);
  usleep(20000);
  if (std::strcmp(Args[1], "exit") == 0)
    exit(4);
  if (std::strcmp(Args[1], "_exit") == 0)
    _exit(7);
  if (std::strcmp(Args[1], "thread") == 0)
    std::thread([] { exit(5); }).join();
  quick_exit(6);
}
