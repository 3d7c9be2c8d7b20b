// Ten functions with known shares of processor time: 50, 20, 15, 5, 5 and five
// times 1 percent, in 100 turns. Prints what each really took.
//
//   shares SECONDS [DEPTH [ROUNDS]]
//
// DEPTH: calls between main and the functions. ROUNDS: work of a hundredth of a
// turn, as an earlier run printed it; without, it is measured.
#include <cstdio>
#include <cstdlib>
#include <ctime>

static volatile unsigned Sum;

static double now() {
  struct timespec Time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Time);
  return double(Time.tv_sec) + 1e-9 * double(Time.tv_nsec);
}

// A function for each share: work of one percent of a turn, Percent times.
#define SHARE(Percent, Name)                                                   \
  [[gnu::noinline]] static void Name(unsigned Rounds) {                        \
    for (unsigned I = 0; I < Rounds * Percent; ++I)                            \
      Sum = Sum + I;                                                           \
  }
#define SHARES(F)                                                              \
  F(50, f50) F(20, f20) F(15, f15) F(5, f5a) F(5, f5b)                         \
  F(1, f1a) F(1, f1b) F(1, f1c) F(1, f1d) F(1, f1e)
SHARES(SHARE)

struct Share {
  const char *Name;
  void (*Function)(unsigned);
  double Seconds;
};
#define ENTRY(Percent, Name) {#Name, Name, 0},
static Share All[] = {SHARES(ENTRY)};

[[gnu::noinline]] static void turn(int Depth, unsigned Rounds) {
  if (Depth > 0) {
    turn(Depth - 1, Rounds);
    asm volatile("");
    return;
  }
  for (Share &Each : All) {
    double Begin = now();
    Each.Function(Rounds);
    Each.Seconds += now() - Begin;
  }
}

int main(int Count, char **Arguments) {
  double Seconds = Count > 1 ? atof(Arguments[1]) : 1;
  int Depth = Count > 2 ? atoi(Arguments[2]) : 0;
  unsigned Rounds = Count > 3 ? unsigned(atoi(Arguments[3])) : 1000;
  if (Count <= 3) {
    double Begin = now();
    turn(0, Rounds);
    Rounds = unsigned(Rounds * (Seconds / 100) / (now() - Begin)) + 1;
  }
  for (Share &Each : All)
    Each.Seconds = 0;
  for (int I = 0; I < 100; ++I)
    turn(Depth, Rounds);
  std::printf("rounds %u\n", Rounds);
  for (const Share &Each : All)
    std::printf("%s %.6f\n", Each.Name, Each.Seconds);
}
