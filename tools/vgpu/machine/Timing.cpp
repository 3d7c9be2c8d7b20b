//===- Timing.cpp - Issue cost by instruction class -------------------------===//
#include "machine/Timing.h"

namespace vgpu {

const ClassCost ClassCosts[unsigned(OpClass::Count)] = {
    /* Unknown      */ {Port::None, 0, 4},
    /* Salu         */ {Port::Salu, 4, 4},
    /* Branch       */ {Port::None, 0, 4},
    /* Message      */ {Port::None, 0, 4},
    /* Wait         */ {Port::None, 0, 4},
    /* Nop          */ {Port::None, 0, 4},
    /* Barrier      */ {Port::None, 0, 4},
    /* End          */ {Port::None, 0, 4},
    /* Valu         */ {Port::Valu, 4, 4},
    /* ValuHalf     */ {Port::Valu, 8, 8},
    /* ValuQuarter  */ {Port::Valu, 16, 16},
    /* ValuF64      */ {Port::Valu, 8, 8},
    /* ValuTransF64 */ {Port::Valu, 16, 16},
    /* Matrix       */ {Port::Valu, 32, 32},
    /* SmemLoad     */ {Port::Salu, 4, 4},
    /* SmemStore    */ {Port::Salu, 4, 4},
    /* SmemTime     */ {Port::Salu, 4, 4},
    /* SmemOther    */ {Port::Salu, 4, 4},
    /* FlatLoad     */ {Port::Vmem, 4, 4},
    /* FlatStore    */ {Port::Vmem, 4, 4},
    /* FlatAtomic   */ {Port::Vmem, 4, 4},
    /* VmemLoad     */ {Port::Vmem, 4, 4},
    /* VmemStore    */ {Port::Vmem, 4, 4},
    /* VmemAtomic   */ {Port::Vmem, 4, 4},
    /* VmemOther    */ {Port::Vmem, 4, 4},
    /* LdsLoad      */ {Port::Lds, 4, 4},
    /* LdsStore     */ {Port::Lds, 4, 4},
    /* LdsAtomic    */ {Port::Lds, 4, 8},
    /* LdsOther     */ {Port::Lds, 4, 4},
};

const char *const ClassNames[unsigned(OpClass::Count)] = {
    "unknown",        "salu",       "branch",      "message",    "wait",         "nop",
    "barrier",        "end",        "valu",        "valu-half",  "valu-quarter", "valu-f64",
    "valu-trans-f64", "matrix",     "smem-load",   "smem-store", "smem-time",    "smem-other",
    "flat-load",      "flat-store", "flat-atomic", "vmem-load",  "vmem-store",   "vmem-atomic",
    "vmem-other",     "lds-load",   "lds-store",   "lds-atomic", "lds-other"};

} // namespace vgpu
