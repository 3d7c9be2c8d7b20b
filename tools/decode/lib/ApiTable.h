// Names and types of one API's functions, out of an API_TABLE chunk.
//
// parse() checks every index and offset, so that what it gives out needs no
// further checks; values of calls are checked by valuesFit().
#ifndef KPROBE_DECODE_APITABLE_H
#define KPROBE_DECODE_APITABLE_H

#include "ByteReader.h"
#include "Error.h"
#include "kprobe/wire.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kprobe {

struct ApiField {
  std::string Name;
  uint32_t Type; ///< KPROBE_FIELD_*, a known one
  uint32_t Enum; ///< or KPROBE_NO_INDEX
};

struct ApiFunction {
  std::string Name;
  std::vector<ApiField> In, Out;
  uint32_t ResultType;
  uint32_t ResultEnum;
};

class ApiTable {
public:
  Error parse(ByteReader Bytes);

  uint32_t domain() const { return Domain; }
  const std::string &name() const { return Name; }
  const std::vector<ApiFunction> &functions() const { return Functions; }
  /// The enumerator's name, or nothing.
  std::string_view enumerator(uint32_t Enum, int64_t Value) const;

private:
  uint32_t Domain = 0;
  std::string Name;
  std::vector<ApiFunction> Functions;
  std::map<std::pair<uint32_t, int64_t>, std::string> Enumerators;
};

/// Bytes that a value of \p Type has at least; false for an unknown type.
bool fieldBytes(uint32_t Type, uint32_t &Bytes);

/// Whether the values of \p Fields fit into \p Values.
bool valuesFit(const std::vector<ApiField> &Fields, ByteReader Values);

/// "ptr=0x7f0012, size=64" of values that fit.
std::string valuesText(const ApiTable &Table,
                       const std::vector<ApiField> &Fields, ByteReader Values);

/// The result of a call: an enumerator's name where there is one, a number; ""
/// of a function without one.
std::string resultText(const ApiTable &Table, const ApiFunction &Function,
                       uint64_t Result);

} // namespace kprobe

#endif
