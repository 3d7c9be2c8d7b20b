// Where ROCr says that a code object came from.
#include "thunk/CodeObjects.h"

#include <gtest/gtest.h>

using namespace vgpu;

namespace {

TEST(CodeObjectUri, File) {
  CodeObjectUri Uri;
  ASSERT_TRUE(parseCodeObjectUri("file:///a%20b/c#offset=8192&size=100", Uri));
  EXPECT_EQ("/a b/c", Uri.Path);
  EXPECT_EQ(8192u, Uri.Offset);
  EXPECT_EQ(100u, Uri.Size);
  ASSERT_TRUE(parseCodeObjectUri("file:///x", Uri));
  EXPECT_EQ("/x", Uri.Path);
  EXPECT_EQ(0u, Uri.Size);
}

TEST(CodeObjectUri, Memory) {
  CodeObjectUri Uri;
  ASSERT_TRUE(parseCodeObjectUri("memory://12#offset=0x7f00&size=64", Uri));
  EXPECT_EQ("", Uri.Path);
  EXPECT_EQ(0x7f00u, Uri.Offset);
  EXPECT_EQ(64u, Uri.Size);
}

TEST(CodeObjectUri, Nonsense) {
  CodeObjectUri Uri;
  for (const char *Text : {"", "http://x", "file://", "memory://1",
                           "memory://1#offset=5", "file:///x#offset=z"})
    EXPECT_FALSE(parseCodeObjectUri(Text, Uri)) << Text;
}

TEST(CodeObjects, NoListNoNames) {
  CodeObjects Code;
  EXPECT_EQ("", Code.kernelName(0x1000));
  EXPECT_EQ("", Code.place(0x1000).Function);
  EXPECT_TRUE(Code.place(0x1000).Frames.empty());
}

} // namespace
