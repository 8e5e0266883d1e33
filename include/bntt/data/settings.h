#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bntt/api.h"
#include "bntt/data/dataset.h"
#include "bntt/model.h"
#include "bntt/network.h"
#include "bntt/network_spec.h"
#include "bntt/trainer.h"

namespace bntt {

/// All settings of a run, as in a TOML file: docs/settings.md lists them. With them a Trainer does
/// what `bntt train` does. A value: copies are independent; threads may share one object that none
/// of them changes.
class BNTT_API Settings {
 public:
  /// The defaults; only data.name must be set.
  Settings();
  /// Reads a TOML file, or the run.toml of a run's directory. Throws an Error that begins with the
  /// file's name.
  static Settings read(const std::filesystem::path& path);
  /// The same from text; `origin` starts every error sentence.
  static Settings from_toml(std::string_view text, const std::string& origin);
  /// Throws Error for an unknown name.
  static Settings preset(std::string_view name);
  static std::vector<std::string> preset_names();  ///< all that `preset` takes
  /// A network on its own, in the form of the section [network]. `origin` starts every error
  /// sentence.
  static NetworkSpec network_from_toml(const std::string& text, const std::string& origin);
  /// The text of a network. Throws Error for an enum without one of its values.
  static std::string network_to_toml(const NetworkSpec& spec);
  /// Moving is copying: an object is never empty.
  /// @{
  Settings(const Settings& other);
  Settings& operator=(const Settings& other);
  /// @}
  ~Settings();

  /// Changes one setting, such as "model.width=0.25". Throws Error for unknown keys and for values
  /// out of range, and then changes nothing.
  void set(std::string_view setting);
  std::string to_toml() const;  ///< all settings, as `from_toml` reads them

  /// Opens the data set of the settings, in `directory` if one is given. Stores in the settings
  /// what `bntt train` determines and writes to run.toml: the normalisation measured on a folder of
  /// images, the number of steps for data.bin_us, and the break-even densities. Throws Error for
  /// missing or damaged files, and for a network that does not fit the data; then nothing is
  /// stored.
  /// Decoded samples are kept in `cache`, if it is given, for the next time.
  Dataset open_data(const std::filesystem::path& directory = {},
                    const std::filesystem::path& cache = {});

  // The next four are for the data set that open_data() returned. They throw Error if the settings
  // do not fit the data.

  /// The training samples, divided and augmented as in the settings.
  DatasetSamples training_samples(const Dataset& data) const;
  /// Those held back for validation; none if data.validation is 0.
  DatasetSamples validation_samples(const Dataset& data) const;
  /// With initial weights drawn from train.seed.
  Network network(const Dataset& data) const;
  /// Its `input` is also what a Trainer needs.
  ModelCard card(const Dataset& data) const;

  /// Throws Error for settings that only `bntt train` supports: train.from and train.window_*.
  TrainerOptions trainer_options() const;

 private:
  struct Contents;
  explicit Settings(Contents contents);

  std::unique_ptr<Contents> contents_;
};

}  // namespace bntt
