// Trains with a settings file, in the format of presets/, on the data set that it names, and tests
// the result:
//   train_settings own.toml DIRECTORY own.safetensors
#include <bntt/data/dataset.h>
#include <bntt/data/settings.h>

#include <bntt/bntt.hpp>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: train_settings TOML DIRECTORY MODEL\n"), 2;
  try {
    bntt::Settings settings = bntt::Settings::read(argv[1]);
    const bntt::Dataset data = settings.open_data(argv[2]);
    const bntt::ModelCard card = settings.card(data);
    bntt::DatasetSamples samples = settings.training_samples(data);
    bntt::Trainer trainer(settings.network(data), card.input, settings.trainer_options());
    trainer.run(samples, {.epoch = [](const bntt::EpochProgress& epoch) {
                  std::printf("epoch %d: loss %.3f, %.1f %%\n", static_cast<int>(epoch.epoch),
                              epoch.sums.mean_loss(), epoch.sums.accuracy());
                }});
    const bntt::Model model = trainer.model(card);
    model.save(argv[3]);

    const bntt::Batch test = data.test().all();
    const std::vector<bntt::Prediction> answers = model.predict(test);
    int right = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) right += answers[i].label == test.labels[i];
    std::printf("%d of %d test samples are right\n", right, static_cast<int>(answers.size()));
  } catch (const bntt::Error& error) {
    return std::fprintf(stderr, "train_settings: %s\n", error.what()), 2;
  }
}
