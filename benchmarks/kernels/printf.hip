// Device printf: needs the host-call buffer among the hidden arguments. What the
// kernel prints is caught through a pipe-like file in place of stdout, compared
// and shown again.
#include "check.h"

#include <algorithm>
#include <string>
#include <unistd.h>

__global__ void speak(int Count, float Step) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count && I % 3 == 0)
    printf("item %d of group %d: %.2f %s\n", I, (int)blockIdx.x, I * Step,
           I % 2 ? "odd" : "even");
}

int main(int Argc, char **Argv) {
  int Count = sizeArgument(Argc, Argv, 80, 10000);
  constexpr float Step = 0.25f;

  std::FILE *Caught = std::tmpfile();
  if (!Caught) {
    std::fprintf(stderr, "error: cannot create a temporary file\n");
    return 1;
  }
  std::fflush(stdout);
  int Stdout = dup(STDOUT_FILENO);
  dup2(fileno(Caught), STDOUT_FILENO);
  speak<<<(Count + 31) / 32, 32>>>(Count, Step);
  hipError_t Error = hipGetLastError();
  if (Error == hipSuccess)
    Error = hipDeviceSynchronize();
  std::fflush(stdout);
  dup2(Stdout, STDOUT_FILENO);
  HIP_CHECK(Error);

  std::vector<std::string> Expected, Got;
  char Line[256];
  for (int I = 0; I < Count; I += 3) {
    std::snprintf(Line, sizeof(Line), "item %d of group %d: %.2f %s\n", I,
                  I / 32, double(I * Step), I % 2 ? "odd" : "even");
    Expected.push_back(Line);
  }
  std::rewind(Caught);
  while (std::fgets(Line, sizeof(Line), Caught))
    Got.push_back(Line);
  // Waves may print in any order.
  std::sort(Expected.begin(), Expected.end());
  std::sort(Got.begin(), Got.end());
  for (const std::string &Text : Got)
    std::fputs(Text.c_str(), stdout);
  return verdict("printf", Got != Expected, Got.size());
}
