#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "classical/gabor_snn.h"
#include "classical/hats.h"
#include "classical/hfirst.h"
#include "classical/hots.h"
#include "classical/linear_classifier.h"

namespace bntt {

struct ClassicalData {
  std::string name;
  std::string dir;
  int64_t sensor_width = 0;  ///< for event-folder; 0: as given in the recordings
  int64_t sensor_height = 0;
  double validation = 0.1;  ///< share of the training recordings, as for networks
  int64_t limit_train = 0;  ///< 0: all
  int64_t limit_test = 0;
  bool operator==(const ClassicalData&) const = default;
};

/// Every setting of a classical run, as in classical.toml; a file has only the sections of its
/// method.
struct ClassicalConfig {
  std::string method;  ///< a name of classical_methods()
  int64_t seed = 1;
  ClassicalData data;
  SvmOptions svm;
  HatsOptions hats;
  HotsOptions hots;
  HfirstOptions hfirst;
  GaborSnnOptions gabor_snn;
  bool operator==(const ClassicalConfig&) const = default;
};

/// The published settings of a method for a data set. If there are none, those of the most similar
/// data set.
ClassicalConfig classical_defaults(std::string_view method, std::string_view dataset);

/// The files of presets/classical, which are compiled into the library: published settings.
std::vector<std::string> classical_preset_names();
/// A preset for a data set: what it leaves open is as in classical_defaults. Throws Error for an
/// unknown name and suggests the nearest known one.
ClassicalConfig classical_preset(std::string_view name, std::string_view dataset);

/// One `--set`, such as "hats.cell=10". Also throws Error for settings of another method.
void apply_classical_setting(ClassicalConfig& config, std::string_view setting);

std::string to_toml(const ClassicalConfig& config);
/// Throws an Error that begins with `origin`.
ClassicalConfig classical_config_from_toml(std::string_view text, const std::string& origin);

}  // namespace bntt
