// Site tables out of code objects, whole and damaged in every way.
#include "SiteTables.h"
#include "CodeObjects.h"
#include "FakeHsa.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace kprobe;

static SiteTableList read(const std::vector<uint8_t> &Elf, std::string &Why) {
  // A copy of the exact size, so that a read past the end is seen by ASan.
  std::unique_ptr<uint8_t[]> Copy(new uint8_t[Elf.size()]);
  if (!Elf.empty())
    std::memcpy(Copy.get(), Elf.data(), Elf.size());
  return readSiteTablesUntrusted(Copy.get(), Elf.size(), Why);
}

TEST(SiteTables, ReadsConcatenatedTables) {
  std::string Why;
  auto A = fake::makeTable({{"k", "k.kprobe"}, {"k2", "k2.kprobe"}}, "a");
  auto B = fake::makeTable({{"j", "j.kprobe"}}, "b");
  std::vector<uint8_t> Padding(16); // linkers align sections
  SiteTableList Tables = read(fake::makeElf({A, Padding, B}), Why);
  EXPECT_EQ(Why, "");
  ASSERT_EQ(Tables.size(), 2u);
  EXPECT_EQ(Tables[0]->Bytes, A);
  EXPECT_EQ(Tables[1]->Bytes, B);
  EXPECT_EQ(Tables[0]->Kernels[1].Name, "k2");
  EXPECT_EQ(Tables[0]->Kernels[1].CloneName, "k2.kprobe");
  EXPECT_NE(Tables[0]->ContentHash, Tables[1]->ContentHash);
}

TEST(SiteTables, NoTableIsNoProblem) {
  std::string Why;
  EXPECT_TRUE(read(fake::makeElf({}), Why).empty());
  EXPECT_TRUE(
      read(fake::makeElf({fake::makeTable({})}, ".other"), Why).empty());
  EXPECT_TRUE(read({}, Why).empty());
  EXPECT_TRUE(read({'n', 'o', ' ', 'E', 'L', 'F'}, Why).empty());
  EXPECT_EQ(Why, "");
}

TEST(SiteTables, RefusesAnotherVersion) {
  auto Table = fake::makeTable({{"k", "k.kprobe"}});
  Table[4 + 2] = 9; // major
  std::string Why;
  EXPECT_TRUE(read(fake::makeElf({Table}), Why).empty());
  EXPECT_NE(Why.find("another version"), std::string::npos);
}

// Its kernels may count on a host that does more than this one.
TEST(SiteTables, RefusesANewerVersion) {
  auto Table = fake::makeTable({{"k", "k.kprobe"}});
  Table[4] = uint8_t(KPROBE_WIRE_MINOR + 1);
  std::string Why;
  EXPECT_TRUE(read(fake::makeElf({Table}), Why).empty());
  EXPECT_NE(Why.find("newer kprobe"), std::string::npos);
}

TEST(SiteTables, KeepsTheTablesBeforeADamagedOne) {
  auto Good = fake::makeTable({{"k", "k.kprobe"}});
  auto Bad = Good;
  Bad.back() ^= 1;
  std::string Why;
  EXPECT_EQ(read(fake::makeElf({Good, Bad}), Why).size(), 1u);
  EXPECT_NE(Why.find("checksum"), std::string::npos);
}

TEST(SiteTables, SurvivesEveryCut) {
  auto Elf = fake::makeElf({fake::makeTable({{"k", "k.kprobe"}})});
  for (size_t Bytes = 0; Bytes < Elf.size(); ++Bytes) {
    std::string Why;
    EXPECT_TRUE(
        read(std::vector<uint8_t>(Elf.begin(), Elf.begin() + long(Bytes)), Why)
            .empty());
  }
}

TEST(SiteTables, SurvivesEveryChangedByte) {
  auto Elf = fake::makeElf({fake::makeTable({{"k", "k.kprobe"}})});
  size_t Refused = 0;
  for (size_t At = 0; At < Elf.size(); ++At)
    for (uint8_t Change : {0x01, 0x80, 0xff}) {
      auto Copy = Elf;
      Copy[At] ^= Change;
      std::string Why;
      Refused += read(Copy, Why).empty();
    }
  EXPECT_GT(Refused, 3 * 96u); // at least the header is covered by the hash
}

TEST(CodeObjects, ReadsFilesWithoutMovingThem) {
  auto Elf = fake::makeElf({fake::makeTable({{"k", "k.kprobe"}})});
  FILE *File = tmpfile();
  ASSERT_NE(File, nullptr);
  ASSERT_EQ(fwrite(Elf.data(), 1, Elf.size(), File), Elf.size());
  fflush(File);
  lseek(fileno(File), 11, SEEK_SET);
  KernelFilter All;
  CodeObjects Code(All);
  EXPECT_EQ(Code.readerCreatedFromFile(1, fileno(File)), "");
  EXPECT_EQ(lseek(fileno(File), 0, SEEK_CUR), 11);
  fclose(File);
  Code.codeObjectLoaded(2, 3, 1);
  EXPECT_TRUE(Code.executableFrozen(
      2, 3, {{"k", 0x10, 0, 0}, {"k.kprobe", 0x11, 0, 0}}));
  EXPECT_EQ(Code.find(0x10)->Clone.Object, 0x11u);
  EXPECT_EQ(Code.readerCreatedFromFile(4, -1), "");
}

TEST(CodeObjects, TableWithoutItsCloneIsNoTable) {
  auto Elf = fake::makeElf({fake::makeTable({{"k", "k.kprobe"}})});
  KernelFilter All;
  CodeObjects Code(All);
  Code.readerCreated(1, Elf.data(), Elf.size());
  Code.codeObjectLoaded(2, 3, 1);
  // The linker dropped the clone; and another agent has no code at all.
  EXPECT_FALSE(Code.executableFrozen(2, 3, {{"k", 0x10, 0, 0}}));
  EXPECT_EQ(Code.find(0x10)->Table, nullptr);
  EXPECT_FALSE(Code.executableFrozen(
      2, 4, {{"k", 0x20, 0, 0}, {"k.kprobe", 0x21, 0, 0}}));
}
