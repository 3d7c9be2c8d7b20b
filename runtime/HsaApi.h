// The slice of the HSA API that the runtime calls, as plain pointers.
//
// The pointers are copied out of the API table that ROCr hands to a tool, with
// the table's own version fields checked for each one, so that an older or
// shorter table is a message and not a crash. Nothing in this library links to
// libhsa-runtime64: a test fills the same struct with functions of its own.
#ifndef KPROBE_RUNTIME_HSAAPI_H
#define KPROBE_RUNTIME_HSAAPI_H

// Debian's header includes "inc/…" unless this is defined.
#ifndef AMD_INTERNAL_BUILD
#define AMD_INTERNAL_BUILD
#endif
#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>

#include <string>

namespace kprobe {

#define KPROBE_HSA_CORE_FUNCTIONS(F)                                           \
  F(hsa_system_get_info)                                                       \
  F(hsa_iterate_agents)                                                        \
  F(hsa_agent_get_info)                                                        \
  F(hsa_queue_create)                                                          \
  F(hsa_queue_destroy)                                                         \
  F(hsa_signal_create)                                                         \
  F(hsa_signal_destroy)                                                        \
  F(hsa_signal_load_scacquire)                                                 \
  F(hsa_signal_store_screlease)                                                \
  F(hsa_signal_subtract_screlease)                                             \
  F(hsa_queue_add_write_index_screlease)                                       \
  F(hsa_memory_copy)                                                           \
  F(hsa_executable_freeze)                                                     \
  F(hsa_executable_destroy)                                                    \
  F(hsa_executable_symbol_get_info)                                            \
  F(hsa_executable_iterate_agent_symbols)                                      \
  F(hsa_executable_load_agent_code_object)                                     \
  F(hsa_code_object_reader_create_from_file)                                   \
  F(hsa_code_object_reader_create_from_memory)                                 \
  F(hsa_code_object_reader_destroy)

#define KPROBE_HSA_AMD_FUNCTIONS(F)                                            \
  F(hsa_amd_queue_intercept_create)                                            \
  F(hsa_amd_queue_intercept_register)                                          \
  F(hsa_amd_profiling_set_profiler_enabled)                                    \
  F(hsa_amd_profiling_get_dispatch_time)                                       \
  F(hsa_amd_profiling_convert_tick_to_system_domain)                           \
  F(hsa_amd_signal_async_handler)                                              \
  F(hsa_amd_memory_pool_get_info)                                              \
  F(hsa_amd_pointer_info)                                                      \
  F(hsa_amd_agent_iterate_memory_pools)                                        \
  F(hsa_amd_agent_memory_pool_get_info)                                        \
  F(hsa_amd_memory_pool_allocate)                                              \
  F(hsa_amd_memory_pool_free)                                                  \
  F(hsa_amd_agents_allow_access)

// May be null. One reports memory faults; the other makes signals that need no
// interrupt.
#define KPROBE_HSA_OPTIONAL_FUNCTIONS(F)                                       \
  F(hsa_amd_register_system_event_handler)                                     \
  F(hsa_amd_signal_create)

struct HsaApi {
#define KPROBE_MEMBER(Name) decltype(::Name) *Name = nullptr;
  KPROBE_HSA_CORE_FUNCTIONS(KPROBE_MEMBER)
  KPROBE_HSA_AMD_FUNCTIONS(KPROBE_MEMBER)
  KPROBE_HSA_OPTIONAL_FUNCTIONS(KPROBE_MEMBER)
#undef KPROBE_MEMBER
};

// Copies every pointer above. False, with the reason in Why, when the table is
// of another major version, or too short for a function that is needed, or has
// a null entry for one.
bool readApiTable(const HsaApiTable *Table, HsaApi &Api, std::string &Why);

} // namespace kprobe

#endif
