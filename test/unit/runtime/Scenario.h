// A "program" under the runtime, on the fake HSA: one run a process, because
// the runtime's life is the process's. Process*Test.cpp start it with a name
// and look at exit status, stderr and dump.
//
// Exit status: 7 when the scenario went through (so that a lost status shows),
// 99 with a line on stderr when the program saw something it should not.
#ifndef KPROBE_TEST_SCENARIO_H
#define KPROBE_TEST_SCENARIO_H

#include "FakeHsa.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <unistd.h>

extern "C" bool OnLoad(HsaApiTable *, uint64_t, uint64_t, const char *const *);
extern "C" void OnUnload();

using namespace fake;

using ScenarioFunction = int (*)();
std::map<std::string, ScenarioFunction> &allScenarios();

// Defines a scenario and adds it to the list.
#define SCENARIO(Name)                                                         \
  static int Name();                                                           \
  static const bool Name##Listed = (allScenarios()[#Name] = Name) != nullptr;  \
  static int Name()

#define CHECK(Condition)                                                       \
  do {                                                                         \
    if (!(Condition)) {                                                        \
      std::fprintf(stderr, "scenario: %s:%d: %s\n", __FILE__, __LINE__,        \
                   #Condition);                                                \
      _exit(99);                                                               \
    }                                                                          \
  } while (0)

constexpr int Good = 7;
constexpr uint64_t K = 0xA000, KClone = 0xA100, Plain = 0xB000;

inline Hsa &hsa(unsigned Agents = 1) {
  return *new Hsa(Agents); // lives as long as ROCr does: longer than main
}
inline void start(Hsa &F) { OnLoad(F.table(), 1, 0, nullptr); }

inline const std::vector<Symbol> Symbols = {{"k.kd", K, 100, 16, 24},
                                            {"k.kprobe.kd", KClone, 100, 48},
                                            {"plain.kd", Plain, 0, 0}};

inline void loadKernels(Hsa &F, std::vector<unsigned> Agents = {0}) {
  F.load(makeElf({makeTable({{"k", "k.kprobe"}})}), Symbols, Agents);
}
inline void dispatch(Hsa &F, hsa_queue_t *Q, unsigned Count,
                     uint64_t Object = K, hsa_signal_t Signal = {}) {
  for (unsigned I = 0; I < Count; ++I) {
    auto Packet = makeDispatch(Object, 256, 128, Signal);
    F.submit(Q, &Packet, 1);
  }
}
inline hsa_signal_t makeSignal(Hsa &F, int64_t Value) {
  hsa_signal_t Signal;
  F.Container.core.hsa_signal_create_fn(Value, 0, nullptr, &Signal);
  return Signal;
}
inline int64_t valueOf(Hsa &F, hsa_signal_t Signal) {
  return F.Container.core.hsa_signal_load_scacquire_fn(Signal);
}

// The usual program: N traced dispatches, one plain one.
inline Hsa &usual(unsigned Count = 10) {
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, Count);
  dispatch(F, Q, 1, Plain);
  F.waitIdle();
  return F;
}

#endif
