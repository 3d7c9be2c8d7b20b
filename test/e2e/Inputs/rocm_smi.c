// A librocm_smi64 of which a test knows what it says: one device, on the PCI
// function that is given by RSMI_TEST_BDF. NEWER: structures as of ROCm 6.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int rsmi_init(uint64_t Flags) { return Flags == 0 ? 0 : 1; }
int rsmi_num_monitor_devices(uint32_t *Count) {
  *Count = getenv("RSMI_TEST_BDF") ? 1 : 0;
  return 0;
}
int rsmi_dev_pci_id_get(uint32_t Device, uint64_t *Id) {
  *Id = strtoull(getenv("RSMI_TEST_BDF"), 0, 0);
  return Device != 0;
}
int rsmi_dev_gpu_clk_freq_get(uint32_t Device, int Which, void *Out) {
#ifdef NEWER
  struct {
    _Bool DeepSleep;
    uint32_t Count, Current;
    uint64_t Hz[33];
  } F = {1, 2, 1, {300000000, 1700000000}};
#else
  struct {
    uint32_t Count, Current;
    uint64_t Hz[32];
  } F = {2, 1, {300000000, 1700000000}};
#endif
  if (Which == 4)
    F.Hz[1] = 1000000000;
  memcpy(Out, &F, sizeof(F));
  return Device != 0 || (Which != 0 && Which != 4);
}
int rsmi_dev_busy_percent_get(uint32_t Device, uint32_t *Percent) {
  *Percent = 73;
  return Device != 0;
}
int rsmi_dev_memory_usage_get(uint32_t Device, int Type, uint64_t *Bytes) {
  *Bytes = 123456789;
  return Device != 0 || Type != 0;
}
// No sensor of power: the reading is left out.
int rsmi_dev_power_ave_get(uint32_t Device, uint32_t Sensor, uint64_t *Power) {
  (void)Device, (void)Sensor, (void)Power;
  return 2;
}
int rsmi_dev_temp_metric_get(uint32_t Device, uint32_t Sensor, int Metric, int64_t *Value) {
  *Value = 45500;
  return Device != 0 || Sensor != 0 || Metric != 0;
}
