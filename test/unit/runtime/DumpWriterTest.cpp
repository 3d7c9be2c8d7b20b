// The dump file: framing, names, and what a failed write leaves.
#include "DumpWriter.h"
#include "DumpFile.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace kprobe;

namespace {

// While it lives no file of the process grows beyond so many bytes.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t Bytes) {
    getrlimit(RLIMIT_FSIZE, &Old);
    struct rlimit Limit = Old;
    Limit.rlim_cur = Bytes;
    setrlimit(RLIMIT_FSIZE, &Limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &Old); }
  FileSizeLimit(const FileSizeLimit &) = delete;

private:
  struct rlimit Old;
};

class Writer : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/kprobe-writer-XXXXXX";
    ASSERT_NE(mkdtemp(Name), nullptr);
    Folder = Name;
  }
  void TearDown() override {
    std::string Command = "rm -rf '" + Folder + "'";
    ASSERT_EQ(system(Command.c_str()), 0);
  }
  std::string Folder, Why;
};

TEST_F(Writer, FramesChunks) {
  DumpWriter Dump;
  ASSERT_TRUE(Dump.open(Folder + "/a.kpd", Why)) << Why;
  DumpWriter::Part Parts[2] = {{"abc", 3}, {"defgh", 5}};
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, Parts, 2));
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, Parts, 1));
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, nullptr, 0));
  Dump.close();
  DumpFile File = DumpFile::read(Folder + "/a.kpd");
  EXPECT_EQ(File.Error, "");
  ASSERT_EQ(File.Chunks.size(), 3u);
  EXPECT_EQ(File.Chunks[0].text(), "abcdefgh");
  EXPECT_EQ(File.Chunks[1].text(), "abc");
  EXPECT_EQ(File.Chunks[2].text(), "");
}

TEST_F(Writer, ExpandsNames) {
  EXPECT_EQ(expandOutputName("a-%p-%h-%t%%.kpd", 12, "box", 99),
            "a-12-box-99%.kpd");
  EXPECT_EQ(expandOutputName("%", 1, "h", 1), "%");
  EXPECT_EQ(expandOutputName("%x", 1, "h", 1), "%x");
}

TEST_F(Writer, NeverOverwrites) { // B53
  std::string First = Folder + "/run.d/a.kpd";
  ASSERT_EQ(mkdir((Folder + "/run.d").c_str(), 0755), 0);
  std::ofstream(First) << "precious";
  DumpWriter One, Two;
  ASSERT_TRUE(One.open(First, Why));
  ASSERT_TRUE(Two.open(First, Why));
  EXPECT_EQ(One.path(), Folder + "/run.d/a.1.kpd");
  EXPECT_EQ(Two.path(), Folder + "/run.d/a.2.kpd");
  std::string Text;
  std::ifstream(First) >> Text;
  EXPECT_EQ(Text, "precious");
  // Without an extension the number goes to the end, not into the folder.
  std::ofstream(Folder + "/run.d/plain") << "x";
  DumpWriter Three;
  ASSERT_TRUE(Three.open(Folder + "/run.d/plain", Why));
  EXPECT_EQ(Three.path(), Folder + "/run.d/plain.1");
}

TEST_F(Writer, NamesWhatIsWrong) {
  DumpWriter Dump;
  EXPECT_FALSE(Dump.open(Folder + "/none/a.kpd", Why));
  EXPECT_EQ(Why, "cannot create " + Folder +
                     "/none/a.kpd: No such file or directory");
  EXPECT_FALSE(Dump.open(Folder, Why)); // a folder
  EXPECT_FALSE(Dump.append(KPROBE_CHUNK_MESSAGE, nullptr, 0));
}

TEST_F(Writer, CutsBackToTheLastWholeChunk) {
  std::optional<FileSizeLimit> Limit;
  DumpWriter Dump;
  ASSERT_TRUE(Dump.open(Folder + "/a.kpd", Why));
  Limit.emplace(1000);
  std::string Text(300, 'x');
  DumpWriter::Part Part = {Text.data(), Text.size()};
  unsigned Written = 0;
  while (Dump.append(KPROBE_CHUNK_MESSAGE, &Part, 1, &Why))
    ++Written;
  Limit.reset();
  EXPECT_EQ(Written, 2u);
  EXPECT_NE(Why.find("File too large"), std::string::npos);
  EXPECT_FALSE(Dump.append(KPROBE_CHUNK_MESSAGE, &Part, 1));
  EXPECT_EQ(Dump.chunksDropped(), 2u);
  DumpFile File = DumpFile::read(Folder + "/a.kpd");
  EXPECT_EQ(File.Error, "");
  EXPECT_EQ(File.Chunks.size(), 2u);
  // The signal of the limit neither killed us nor waits for later.
  sigset_t Pending;
  sigpending(&Pending);
  EXPECT_FALSE(sigismember(&Pending, SIGXFSZ));
}

static off_t sizeOf(const std::string &Path) {
  struct stat Info;
  return stat(Path.c_str(), &Info) == 0 ? Info.st_size : -1;
}

TEST_F(Writer, WritesBatchesAtTheirEnd) {
  DumpWriter Dump;
  ASSERT_TRUE(Dump.open(Folder + "/a.kpd", Why));
  const off_t Empty = sizeOf(Dump.path());
  std::string Long(300000, 'l');
  DumpWriter::Part One = {"one", 3}, Much = {Long.data(), Long.size()};
  Dump.beginBatch();
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, &One, 1));
  EXPECT_EQ(sizeOf(Dump.path()), Empty);
  // Too much to be held: written at once, behind what was.
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, &Much, 1));
  EXPECT_GT(sizeOf(Dump.path()), Empty + off_t(Long.size()));
  // Together more than is held.
  DumpWriter::Part Half = {Long.data(), 200000};
  const off_t Before = sizeOf(Dump.path());
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, &Half, 1));
  EXPECT_EQ(sizeOf(Dump.path()), Before);
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, &Half, 1));
  EXPECT_GT(sizeOf(Dump.path()), Before);
  EXPECT_TRUE(Dump.endBatch(&Why));
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, &One, 1));
  DumpFile File = DumpFile::read(Folder + "/a.kpd");
  EXPECT_EQ(File.Error, "");
  std::vector<size_t> Sizes;
  for (const DumpChunk &Chunk : File.Chunks)
    Sizes.push_back(Chunk.Payload.size());
  EXPECT_EQ(Sizes, (std::vector<size_t>{3, 300000, 200000, 200000, 3}));
}

TEST_F(Writer, CountsWhatABatchLoses) {
  std::optional<FileSizeLimit> Limit;
  DumpWriter Dump;
  ASSERT_TRUE(Dump.open(Folder + "/a.kpd", Why));
  Limit.emplace(1000);
  std::string Text(300, 'x');
  DumpWriter::Part Part = {Text.data(), Text.size()};
  EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, &Part, 1));
  Dump.beginBatch();
  for (int I = 0; I < 5; ++I)
    EXPECT_TRUE(Dump.append(KPROBE_CHUNK_MESSAGE, &Part, 1));
  EXPECT_FALSE(Dump.endBatch(&Why));
  Limit.reset();
  EXPECT_NE(Why.find("File too large"), std::string::npos);
  EXPECT_EQ(Dump.chunksDropped(), 5u);
  DumpFile File = DumpFile::read(Folder + "/a.kpd");
  EXPECT_EQ(File.Error, "");
  EXPECT_EQ(File.Chunks.size(), 1u);
}

TEST_F(Writer, LeavesNoFileWithoutAHeader) {
  std::optional<FileSizeLimit> Limit(10);
  DumpWriter Dump;
  EXPECT_FALSE(Dump.open(Folder + "/a.kpd", Why));
  Limit.reset();
  EXPECT_NE(access((Folder + "/a.kpd").c_str(), F_OK), 0);
}

TEST_F(Writer, KeepsChunksOfManyThreadsWhole) {
  DumpWriter Dump;
  ASSERT_TRUE(Dump.open(Folder + "/a.kpd", Why));
  std::vector<std::thread> Threads;
  for (int T = 0; T < 8; ++T)
    Threads.emplace_back([&, T] {
      std::string Text(size_t(100 + T), char('a' + T));
      DumpWriter::Part Part = {Text.data(), Text.size()};
      for (int I = 0; I < 50; ++I)
        Dump.append(KPROBE_CHUNK_MESSAGE, &Part, 1);
    });
  for (auto &Thread : Threads)
    Thread.join();
  Dump.close();
  DumpFile File = DumpFile::read(Folder + "/a.kpd");
  EXPECT_EQ(File.Error, "");
  ASSERT_EQ(File.Chunks.size(), 400u);
  for (const DumpChunk &Chunk : File.Chunks)
    EXPECT_EQ(Chunk.text(),
              std::string(Chunk.Payload.size(),
                          char('a' + Chunk.Payload.size() - 100)));
}

} // namespace
