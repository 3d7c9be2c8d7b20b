// Runs the fuzz target over files and folders, without libFuzzer.
//
//   decode-fuzz-replay [--mutations N] FILE|FOLDER…
//
// A file that ends in .txt is a description for kprobe-mkdump, any other one is
// a dump. After the file itself come N mutations of it, the same in every run.
// A fault is a crash or an abort; the input is left in decode-fuzz-crash.
#include "TextDump.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);

namespace {

const std::vector<uint8_t> *Current = nullptr;

/// Keeps the input that killed us; only calls that a handler may make.
void saveAndDie(int Signal) {
  int File = open("decode-fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (File >= 0 && Current &&
      write(File, Current->data(), Current->size()) >= 0)
    close(File);
  std::signal(Signal, SIG_DFL);
  raise(Signal);
}

void runOne(const std::vector<uint8_t> &Bytes) {
  Current = &Bytes;
  LLVMFuzzerTestOneInput(Bytes.data(), Bytes.size());
}

void mutate(std::vector<uint8_t> &Bytes, std::mt19937 &Random) {
  static const uint64_t Interesting[] = {0,
                                         1,
                                         7,
                                         8,
                                         63,
                                         64,
                                         0x7fffffff,
                                         0x80000000,
                                         0xffffffff,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         UINT64_MAX};
  for (unsigned I = 0, Count = 1 + Random() % 4; I < Count && !Bytes.empty();
       ++I) {
    size_t At = Random() % Bytes.size();
    switch (Random() % 5) {
    case 0:
      Bytes[At] ^= static_cast<uint8_t>(1u << Random() % 8);
      break;
    case 1:
      Bytes[At] = static_cast<uint8_t>(Random());
      break;
    case 2: // a whole field
      At = At / 4 * 4;
      std::memcpy(&Bytes[At], &Interesting[Random() % 12],
                  std::min<size_t>(Random() % 2 ? 4 : 8, Bytes.size() - At));
      break;
    case 3:
      Bytes.resize(At);
      break;
    case 4: { // words from elsewhere
      size_t From = Random() % Bytes.size();
      size_t Size = std::min<size_t>(
          {8 + Random() % 64, Bytes.size() - At, Bytes.size() - From});
      std::memmove(&Bytes[At], &Bytes[From], Size);
      break;
    }
    }
  }
}

bool readInput(const std::filesystem::path &Path, std::vector<uint8_t> &Out) {
  std::ifstream File(Path, std::ios::binary);
  std::string Text((std::istreambuf_iterator<char>(File)), {});
  std::string Fault;
  if (Path.extension() != ".txt")
    Out.assign(Text.begin(), Text.end());
  else if (!kprobe::makeDump(Text, Out, Fault))
    std::fprintf(stderr, "decode-fuzz-replay: error: %s: %s\n", Path.c_str(),
                 Fault.c_str());
  return bool(File) && Fault.empty();
}

} // namespace

int main(int Count, char **Arguments) {
  unsigned long Mutations = 0;
  std::vector<std::filesystem::path> Files;
  for (int I = 1; I < Count; ++I) {
    if (std::strcmp(Arguments[I], "--mutations") == 0 && I + 1 < Count)
      Mutations = std::strtoul(Arguments[++I], nullptr, 10);
    else if (std::filesystem::is_directory(Arguments[I]))
      for (const auto &Entry :
           std::filesystem::directory_iterator(Arguments[I]))
        Files.push_back(Entry.path());
    else
      Files.emplace_back(Arguments[I]);
  }
  std::sort(Files.begin(), Files.end());
  if (Files.empty()) {
    std::fprintf(stderr, "decode-fuzz-replay: error: no input\n");
    return 2;
  }
  for (int Signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
    std::signal(Signal, saveAndDie);
  std::mt19937 Random(12345);
  unsigned long Inputs = 0;
  for (const std::filesystem::path &Path : Files) {
    std::vector<uint8_t> Original;
    if (!readInput(Path, Original))
      return 1;
    runOne(Original);
    ++Inputs;
    for (unsigned long I = 0; I < Mutations; ++I, ++Inputs) {
      std::vector<uint8_t> Bytes = Original;
      mutate(Bytes, Random);
      runOne(Bytes);
    }
  }
  std::printf("%lu inputs from %zu files\n", Inputs, Files.size());
  return 0;
}
