// The offsets by which stacks of CPython 3.11 are read, held against its
// headers.
#include "profile/PythonStack.h"

#include <gtest/gtest.h>

extern "C" {
extern const uint32_t PythonLayoutOfHeaders[];
extern const uint32_t PythonLayoutPlaces;
uint32_t pythonStateOf(unsigned Kind, unsigned Compact, unsigned Ascii);
}

TEST(PythonLayout, IsThatOfTheHeaders) {
  const uint32_t Ours[] = {
#include "profile/PythonLayout311.def"
  };
  ASSERT_EQ(std::size(Ours), PythonLayoutPlaces);
  for (size_t I = 0; I < std::size(Ours); ++I)
    EXPECT_EQ(Ours[I], PythonLayoutOfHeaders[I]) << "place " << I;
}

TEST(PythonLayout, StateOfText) {
  EXPECT_EQ(pythonStateOf(7, 0, 0), 7u << 2);
  EXPECT_EQ(pythonStateOf(0, 1, 0), 1u << 5);
  EXPECT_EQ(pythonStateOf(0, 0, 1), 1u << 6);
}
