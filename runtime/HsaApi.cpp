// Reads ROCr's API table with distrust: each table states its own size in its
// version's minor id, and a pointer beyond that size does not exist.
#include "HsaApi.h"

namespace kprobe {

// Does a table of this version reach as far as a pointer at Offset?
static bool reaches(const ApiTableVersion &Version, size_t Offset) {
  return Offset + sizeof(void *) <= Version.minor_id;
}

bool readApiTable(const HsaApiTable *Table, HsaApi &Api, std::string &Why) {
  if (!Table) {
    Why = "no HSA API table";
    return false;
  }
  if (Table->version.major_id != HSA_API_TABLE_MAJOR_VERSION) {
    Why = "HSA API table has version " +
          std::to_string(Table->version.major_id) + ", expected " +
          std::to_string(HSA_API_TABLE_MAJOR_VERSION);
    return false;
  }
  if (!reaches(Table->version, offsetof(HsaApiTable, amd_ext_)) ||
      !Table->core_ || !Table->amd_ext_) {
    Why = "HSA API table lacks the core or the AMD functions";
    return false;
  }
  if (Table->core_->version.major_id != HSA_CORE_API_TABLE_MAJOR_VERSION ||
      Table->amd_ext_->version.major_id !=
          HSA_AMD_EXT_API_TABLE_MAJOR_VERSION) {
    Why = "HSA core or AMD function table has an unknown version";
    return false;
  }
#define KPROBE_READ(Part, Type, Name)                                          \
  if (!reaches(Table->Part->version, offsetof(Type, Name##_fn)) ||             \
      !Table->Part->Name##_fn) {                                               \
    Why = "HSA API table has no " #Name;                                       \
    return false;                                                              \
  }                                                                            \
  Api.Name = Table->Part->Name##_fn;
#define KPROBE_READ_CORE(Name) KPROBE_READ(core_, CoreApiTable, Name)
#define KPROBE_READ_AMD(Name) KPROBE_READ(amd_ext_, AmdExtTable, Name)
  KPROBE_HSA_CORE_FUNCTIONS(KPROBE_READ_CORE)
  KPROBE_HSA_AMD_FUNCTIONS(KPROBE_READ_AMD)
#undef KPROBE_READ_CORE
#undef KPROBE_READ_AMD
#undef KPROBE_READ
#define KPROBE_READ_OPTIONAL(Name)                                             \
  if (reaches(Table->amd_ext_->version, offsetof(AmdExtTable, Name##_fn)))     \
    Api.Name = Table->amd_ext_->Name##_fn;
  KPROBE_HSA_OPTIONAL_FUNCTIONS(KPROBE_READ_OPTIONAL)
#undef KPROBE_READ_OPTIONAL
  return true;
}

} // namespace kprobe
