// Second of two files with a kernel of the same name.
#define ANONYMOUS_CONSTANT 11
#include "anonymous.h"

size_t runOtherFile(int Count) { return runScale<int, 5>(Count, 2); }
