// First of two files with a kernel of the same name; has main.
#define ANONYMOUS_CONSTANT 3
#include "anonymous.h"

size_t runOtherFile(int Count);

int main(int Argc, char **Argv) {
  int Count = sizeArgument(Argc, Argv, 700, 1 << 24);
  size_t Mismatches = runScale<int, 5>(Count, 1) +
                      runScale<float, 3>(Count, 0.5f) + runOtherFile(Count);
  return verdict("anonymous", Mismatches, Count);
}
