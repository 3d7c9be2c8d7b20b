// Instructions that gfx10 has under another name than gfx9: "nc" says that an
// addition has no carry, "ci" that one comes in.
#include "Tables.h"

namespace vgpu {

const std::vector<OpAlias> &gfx10Aliases() {
  static const std::vector<OpAlias> Aliases = {
      {"v_add_nc_u32", "v_add_u32"},
      {"v_sub_nc_u32", "v_sub_u32"},
      {"v_subrev_nc_u32", "v_subrev_u32"},
      {"v_add_nc_i32", "v_add_i32"},
      {"v_sub_nc_i32", "v_sub_i32"},
      {"v_add_nc_u16", "v_add_u16"},
      {"v_sub_nc_u16", "v_sub_u16"},
      {"v_add_nc_i16", "v_add_i16"},
      {"v_sub_nc_i16", "v_sub_i16"},
      {"v_add_co_ci_u32", "v_addc_co_u32"},
      {"v_sub_co_ci_u32", "v_subb_co_u32"},
      {"v_subrev_co_ci_u32", "v_subbrev_co_u32"},
  };
  return Aliases;
}

} // namespace vgpu
