// The runtime over the life of a process: each test runs one scenario of
// Scenario*.cpp and reads what is left: exit status, stderr, dump.
#ifndef KPROBE_TEST_PROCESSTEST_H
#define KPROBE_TEST_PROCESSTEST_H

#include "DumpFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

class Process : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/kprobe-runtime-XXXXXX";
    ASSERT_NE(mkdtemp(Name), nullptr);
    Folder = Name;
    Output = Folder + "/t.kpd";
  }
  void TearDown() override {
    chmod(Folder.c_str(), 0755);
    for (const std::string &File : files())
      unlink((Folder + "/" + File).c_str());
    rmdir(Folder.c_str());
  }

  // Starts a scenario; Settings are "NAME=value".
  pid_t launch(const std::string &Scenario,
               const std::vector<std::string> &Settings = {}) {
    pid_t Child = fork();
    if (Child != 0)
      return Child;
    int Errors =
        open((Folder + "/stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(Errors, 2);
    setenv("KPROBE_OUTPUT", Output.c_str(), 1);
    setenv("KPROBE_BUFFER", "8M", 1);
    for (const std::string &Setting : Settings)
      putenv(strdup(Setting.c_str()));
    execl(KPROBE_SCENARIO, "scenario", Scenario.c_str(), nullptr);
    _exit(98);
  }
  int finish(pid_t Child) {
    int Raw = 0;
    waitpid(Child, &Raw, 0);
    std::ifstream In(Folder + "/stderr");
    std::stringstream Text;
    Text << In.rdbuf();
    Errors = Text.str();
    return Raw;
  }
  // Runs to the end; expects the program's own status.
  DumpFile run(const std::string &Scenario,
               const std::vector<std::string> &Settings = {}) {
    int Raw = finish(launch(Scenario, Settings));
    EXPECT_TRUE(WIFEXITED(Raw)) << "signal " << WTERMSIG(Raw) << "\n" << Errors;
    EXPECT_EQ(WEXITSTATUS(Raw), 7) << Errors;
    struct stat Info;
    bool Device = stat(Output.c_str(), &Info) == 0 && !S_ISREG(Info.st_mode);
    return Device ? DumpFile() : DumpFile::read(Output);
  }
  std::vector<std::string> files() {
    std::vector<std::string> Names;
    if (DIR *Dir = opendir(Folder.c_str())) {
      while (dirent *Entry = readdir(Dir))
        if (Entry->d_name[0] != '.')
          Names.push_back(Entry->d_name);
      closedir(Dir);
    }
    return Names;
  }
  static size_t count(const std::string &Text, const std::string &Part) {
    size_t Found = 0;
    for (size_t At = 0; (At = Text.find(Part, At)) != std::string::npos; ++At)
      ++Found;
    return Found;
  }

  std::string Folder, Output, Errors;
};

inline void expectWhole(const DumpFile &Dump, uint64_t Seen, uint64_t Traced) {
  EXPECT_EQ(Dump.Error, "");
  EXPECT_EQ(Dump.dispatches().size(), Seen);
  ASSERT_TRUE(Dump.hasSummary());
  EXPECT_EQ(Dump.summary().DispatchesSeen, Seen);
  EXPECT_EQ(Dump.summary().DispatchesTraced, Traced);
  EXPECT_EQ(Dump.summary().ChunksDropped, 0u);
}

#endif
