/* Uses the C interface as a C99 program would, and complains where it is not as promised:
 *   c_user images MODEL PIXELS LOGITS PICTURE MEMBRANES
 *     8x8 grey images, the first one as a file, and the voltages of conv2 after all steps
 *   c_user events MODEL COUNTS LOGITS RECORDING
 *     recordings of the model's size, and the first one as a file
 * Files hold bytes and floats as in memory. */
#define _POSIX_C_SOURCE 200809L
#include <bntt/bntt.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complaints = 0;

#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "%d: %s (%s)\n", __LINE__, #condition, bntt_last_error()); \
      ++complaints;                                                              \
    }                                                                            \
  } while (0)

static void* contents(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  void* bytes = NULL;
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(*size);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) exit(1);
  fclose(file);
  return bytes;
}

struct samples {
  const bntt_model* model;
  const uint8_t* bytes; /* [sample, ...] */
  const float* logits;  /* [sample, class]: the right ones */
  int64_t count;
};

enum { kSide = 8, kPixels = kSide * kSide };

static size_t logit_bytes(const struct samples* samples) {
  return (size_t)(samples->count * bntt_model_classes(samples->model)) * sizeof(float);
}

static int stop_at_once(int64_t done, void* user_data) {
  *(int64_t*)user_data = done;
  return 1;
}

static int complains(const char* of) { return strcmp(bntt_last_error(), of) == 0; }

/* Every function takes NULL for its object. Those that return a number return 0. */
static void check_null(void) {
  const uint8_t pixel = 0;
  float number = 0.0F;
  bntt_model* model = NULL;
  bntt_session* session = NULL;
  bntt_results results;
  EXPECT(bntt_results_init(NULL, sizeof results) == BNTT_ERROR);
  EXPECT(bntt_results_init(&results, 3) == BNTT_ERROR);
  EXPECT(bntt_results_init(&results, (size_t)-1) == BNTT_ERROR);
  EXPECT(bntt_model_load("no/such/run", NULL) == BNTT_ERROR);
  EXPECT(complains("model: is NULL"));
  EXPECT(bntt_model_classes(model) == 0);
  EXPECT(complains("bntt_model: is NULL"));
  EXPECT(bntt_session_steps_done(session) == 0);
  EXPECT(complains("bntt_session: is NULL"));
  EXPECT(bntt_model_steps(model) == 0);
  EXPECT(complains("bntt_model: is NULL"));
  EXPECT(bntt_session_done(session) == 0);
  EXPECT(complains("bntt_session: is NULL"));
  EXPECT(bntt_model_channels(model) == 0);
  EXPECT(bntt_model_height(model) == 0);
  EXPECT(bntt_model_width(model) == 0);
  EXPECT(bntt_model_frames(model) == 0);
  EXPECT(bntt_model_class_name(model, 0) == NULL);
  EXPECT(complains("bntt_model: is NULL"));
  EXPECT(bntt_session_create(model, 1, NULL, &session) == BNTT_ERROR);
  EXPECT(session == NULL);
  EXPECT(bntt_session_restart(session) == BNTT_ERROR);
  EXPECT(complains("bntt_session: is NULL"));
  EXPECT(bntt_session_show(session, &pixel, 1, 1, 1) == BNTT_ERROR);
  EXPECT(bntt_session_advance(session, 1) == BNTT_ERROR);
  EXPECT(bntt_session_advance_events(session, &pixel) == BNTT_ERROR);
  EXPECT(bntt_session_logits(session, &number) == BNTT_ERROR);
  EXPECT(bntt_session_probabilities(session, &number) == BNTT_ERROR);
}

static void check_refusals(void) {
  bntt_model* model = NULL;
  bntt_options options;
  struct {
    bntt_options known;
    int64_t newer;
  } later;
  EXPECT(strcmp(bntt_last_error(), "") == 0);
  EXPECT(bntt_model_load("no/such/run", &model) == BNTT_ERROR);
  EXPECT(strstr(bntt_last_error(), "no/such/run") != NULL);
  EXPECT(model == NULL);
  EXPECT(bntt_model_load(NULL, &model) == BNTT_ERROR);
  EXPECT(bntt_options_init(&options, 3) == BNTT_ERROR);
  EXPECT(bntt_options_init(NULL, sizeof options) == BNTT_ERROR);
  EXPECT(bntt_options_init(&options, (size_t)-1) == BNTT_ERROR); /* never initialised */
  EXPECT(bntt_options_init(&later.known, sizeof later) == BNTT_OK);
  EXPECT(later.newer == 0 && later.known.size == sizeof later);
  check_null();
  bntt_model_free(NULL);
  bntt_session_free(NULL);
}

static void check_predictions(const struct samples* samples) {
  const bntt_model* model = samples->model;
  const int64_t classes = bntt_model_classes(model);
  const size_t n = (size_t)samples->count;
  float* logits = malloc(logit_bytes(samples));
  float* probabilities = malloc(logit_bytes(samples));
  int64_t* labels = malloc(n * sizeof *labels);
  int64_t* steps = malloc(n * sizeof *steps);
  int64_t* spikes = malloc(n * sizeof *spikes);
  float* values = malloc(n * kPixels * sizeof *values);
  bntt_results results;
  bntt_options options;
  int64_t done = 0;
  EXPECT(bntt_results_init(&results, sizeof results) == BNTT_OK);
  EXPECT(bntt_options_init(&options, sizeof options) == BNTT_OK);
  results.labels = labels;
  results.logits = logits;
  results.probabilities = probabilities;
  results.steps = steps;
  EXPECT(bntt_predict(model, samples->bytes, samples->count, kSide, kSide, 1, NULL, &results) ==
         BNTT_OK);
  EXPECT(memcmp(logits, samples->logits, logit_bytes(samples)) == 0);
  for (size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int64_t k = 0; k < classes; ++k) sum += probabilities[(int64_t)i * classes + k];
    EXPECT(fabs(sum - 1.0) < 1e-5);
    EXPECT(labels[i] >= 0 && labels[i] < classes);
    EXPECT(steps[i] == bntt_model_steps(model));
  }

  memset(logits, 0, logit_bytes(samples));
  results.spikes = spikes;
  options.threads = 1;
  for (size_t i = 0; i < n * kPixels; ++i) values[i] = (float)samples->bytes[i] / 255.0F;
  EXPECT(bntt_predict_values(model, values, samples->count, &options, &results) == BNTT_OK);
  EXPECT(memcmp(logits, samples->logits, logit_bytes(samples)) == 0);
  EXPECT(spikes[0] > 0);

  values[kPixels / 2] = NAN;
  EXPECT(bntt_predict_values(model, values, 1, &options, &results) == BNTT_ERROR);
  EXPECT(strstr(bntt_last_error(), "expected 0 to 1") != NULL);
  values[kPixels / 2] = 0.5F;
  EXPECT(bntt_predict_values(model, values, INT64_MAX, &options, &results) == BNTT_ERROR);

  options.exit_confidence = 0.0;
  EXPECT(bntt_predict_values(model, values, samples->count, &options, &results) == BNTT_OK);
  EXPECT(steps[0] == 1);
  options.exit_confidence = 1.5;
  EXPECT(bntt_predict_values(model, values, samples->count, &options, &results) == BNTT_ERROR);
  EXPECT(strstr(bntt_last_error(), "exit_confidence") != NULL);

  EXPECT(bntt_options_init(&options, sizeof options) == BNTT_OK);
  options.progress = stop_at_once;
  options.user_data = &done;
  EXPECT(bntt_predict_values(model, values, samples->count, &options, &results) == BNTT_CANCELLED);
  EXPECT(done >= 1);

  {
    struct {
      bntt_options known;
      int64_t newer;
    } later;
    EXPECT(bntt_options_init(&later.known, sizeof later) == BNTT_OK);
    EXPECT(bntt_predict_values(model, values, 1, &later.known, &results) == BNTT_OK);
    later.newer = 1;
    EXPECT(bntt_predict_values(model, values, 1, &later.known, &results) == BNTT_ERROR);
  }
  EXPECT(bntt_predict(model, samples->bytes, 1, INT64_MAX, INT64_MAX, 1, NULL, &results) ==
         BNTT_ERROR);
  EXPECT(bntt_predict(model, NULL, 1, kSide, kSide, 1, NULL, &results) == BNTT_ERROR);
  EXPECT(bntt_predict(model, samples->bytes, 1, kSide, kSide, 1, NULL, NULL) == BNTT_ERROR);
  EXPECT(bntt_predict_events(model, samples->bytes, 1, NULL, &results) == BNTT_ERROR);
  EXPECT(bntt_model_class_name(model, classes) == NULL);
  EXPECT(strcmp(bntt_model_class_name(model, 1), "coat") == 0);
  free(logits), free(probabilities), free(labels), free(steps), free(spikes), free(values);
}

static void check_file(const struct samples* samples, const char* file) {
  float* logits = malloc(logit_bytes(samples));
  bntt_results results;
  bntt_results_init(&results, sizeof results);
  results.logits = logits;
  EXPECT(bntt_predict_file(samples->model, file, NULL, &results) == BNTT_OK);
  EXPECT(memcmp(logits, samples->logits,
                (size_t)bntt_model_classes(samples->model) * sizeof *logits) == 0);
  EXPECT(bntt_predict_file(samples->model, "no/such/file", NULL, &results) == BNTT_ERROR);
  free(logits);
}

static void check_session(const struct samples* samples) {
  float* logits = malloc(logit_bytes(samples));
  bntt_session* session = NULL;
  EXPECT(bntt_session_create(samples->model, 0, NULL, &session) == BNTT_ERROR);
  EXPECT(bntt_session_create(samples->model, samples->count, NULL, &session) == BNTT_OK);
  EXPECT(bntt_session_advance(session, 1) == BNTT_ERROR); /* nothing shown yet */
  EXPECT(bntt_session_show(session, NULL, kSide, kSide, 1) == BNTT_ERROR);
  EXPECT(bntt_session_show(session, samples->bytes, 0, kSide, 1) == BNTT_ERROR);
  EXPECT(bntt_session_show(session, samples->bytes, kSide, kSide, 2) == BNTT_ERROR);
  EXPECT(bntt_session_show(session, samples->bytes, INT64_MAX, INT64_MAX, 1) == BNTT_ERROR);
  EXPECT(bntt_session_advance_events(session, samples->bytes) == BNTT_ERROR); /* reads images */
  EXPECT(bntt_session_logits(session, NULL) == BNTT_ERROR);
  EXPECT(bntt_session_probabilities(session, NULL) == BNTT_ERROR);
  for (int round = 0; round < 2; ++round) {
    EXPECT(bntt_session_show(session, samples->bytes, kSide, kSide, 1) == BNTT_OK);
    EXPECT(bntt_session_steps_done(session) == 0);
    while (!bntt_session_done(session)) EXPECT(bntt_session_advance(session, 1) == BNTT_OK);
    EXPECT(bntt_session_logits(session, logits) == BNTT_OK);
    EXPECT(memcmp(logits, samples->logits, logit_bytes(samples)) == 0);
    EXPECT(bntt_session_probabilities(session, logits) == BNTT_OK);
    EXPECT(bntt_session_advance(session, 1) == BNTT_ERROR); /* no steps left */
  }
  EXPECT(bntt_session_restart(session) == BNTT_OK);
  EXPECT(bntt_session_steps_done(session) == 0);
  bntt_session_free(session);
  free(logits);
}

/* `expected` holds the voltages of conv2 after all steps. */
static void check_membranes(const struct samples* samples, const float* expected, size_t bytes) {
  const int64_t many = (int64_t)(bytes / sizeof(float));
  float* voltages = malloc(bytes);
  int64_t count = -1;
  bntt_session* session = NULL;
  EXPECT(bntt_session_create(samples->model, samples->count, NULL, &session) == BNTT_OK);
  EXPECT(bntt_session_show(session, samples->bytes, kSide, kSide, 1) == BNTT_OK);
  EXPECT(bntt_session_membranes(session, "conv2", NULL, &count) == BNTT_OK);
  EXPECT(count == many);
  EXPECT(bntt_session_membranes(session, "conv2", voltages, &count) == BNTT_OK);
  for (int64_t i = 0; i < many; ++i) EXPECT(voltages[i] == 0.0F); /* at rest */

  EXPECT(bntt_session_advance(session, bntt_model_steps(samples->model)) == BNTT_OK);
  count = many + 1; /* more room than needed */
  EXPECT(bntt_session_membranes(session, "conv2", voltages, &count) == BNTT_OK);
  EXPECT(count == many);
  EXPECT(memcmp(voltages, expected, bytes) == 0);

  count = many - 1;
  voltages[0] = 7.0F;
  EXPECT(bntt_session_membranes(session, "conv2", voltages, &count) == BNTT_ERROR);
  EXPECT(strstr(bntt_last_error(), "there is room for") != NULL);
  EXPECT(voltages[0] == 7.0F && count == many - 1);
  count = many;
  EXPECT(bntt_session_membranes(session, "conv9", voltages, &count) == BNTT_ERROR);
  EXPECT(strstr(bntt_last_error(), "conv9") != NULL);
  EXPECT(bntt_session_membranes(session, "conv2", voltages, NULL) == BNTT_ERROR);
  EXPECT(bntt_session_membranes(session, NULL, voltages, &count) == BNTT_ERROR);
  EXPECT(bntt_session_membranes(NULL, "conv2", voltages, &count) == BNTT_ERROR);
  bntt_session_free(session);
  free(voltages);
}

static void* use_in_thread(void* argument) {
  const struct samples* samples = argument;
  float* logits = malloc(logit_bytes(samples));
  bntt_results results;
  EXPECT(strcmp(bntt_last_error(), "") == 0); /* this thread has made no mistake yet */
  bntt_results_init(&results, sizeof results);
  results.logits = logits;
  for (int round = 0; round < 10; ++round) {
    EXPECT(bntt_predict(samples->model, samples->bytes, samples->count, kSide, kSide, 1, NULL,
                        &results) == BNTT_OK);
    EXPECT(memcmp(logits, samples->logits, logit_bytes(samples)) == 0);
    check_session(samples);
  }
  free(logits);
  return NULL;
}

static void check_threads(struct samples* samples) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, use_in_thread, samples);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static void check_events(const struct samples* samples, const char* recording) {
  const bntt_model* model = samples->model;
  const int64_t frame =
      bntt_model_channels(model) * bntt_model_height(model) * bntt_model_width(model);
  float* logits = malloc(logit_bytes(samples));
  bntt_results results;
  bntt_session* session = NULL;
  bntt_results_init(&results, sizeof results);
  results.logits = logits;
  EXPECT(bntt_model_frames(model) == bntt_model_steps(model));
  EXPECT(bntt_predict_events(model, samples->bytes, samples->count, NULL, &results) == BNTT_OK);
  EXPECT(memcmp(logits, samples->logits, logit_bytes(samples)) == 0);
  EXPECT(bntt_predict(model, samples->bytes, 1, 8, 8, 1, NULL, &results) == BNTT_ERROR);
  EXPECT(bntt_predict_events(model, samples->bytes, INT64_MAX, NULL, &results) == BNTT_ERROR);
  check_file(samples, recording);

  EXPECT(bntt_session_create(model, 1, NULL, &session) == BNTT_OK);
  for (int64_t step = 0; step < bntt_model_steps(model); ++step) {
    EXPECT(bntt_session_advance_events(session, samples->bytes + step * frame) == BNTT_OK);
  }
  EXPECT(bntt_session_logits(session, logits) == BNTT_OK);
  EXPECT(memcmp(logits, samples->logits, (size_t)bntt_model_classes(model) * sizeof *logits) == 0);
  EXPECT(bntt_session_advance_events(session, samples->bytes) == BNTT_ERROR); /* no steps left */
  EXPECT(bntt_session_restart(session) == BNTT_OK);
  EXPECT(bntt_session_advance_events(session, NULL) == BNTT_ERROR);
  EXPECT(bntt_session_show(session, samples->bytes, kSide, kSide, 1) == BNTT_ERROR);
  bntt_session_free(session);
  free(logits);
}

int main(int argc, char** argv) {
  bntt_model* model = NULL;
  struct samples samples;
  size_t bytes = 0;
  size_t sample = kPixels;
  void* inputs = NULL;
  void* logits = NULL;
  size_t ignored = 0;
  if (argc < 6) return 2;
  check_refusals();
  if (bntt_model_load(argv[2], &model) != BNTT_OK) {
    fprintf(stderr, "%s\n", bntt_last_error());
    return 1;
  }
  inputs = contents(argv[3], &bytes);
  logits = contents(argv[4], &ignored);
  if (bntt_model_frames(model) > 0) {
    sample = (size_t)(bntt_model_frames(model) * bntt_model_channels(model) *
                      bntt_model_height(model) * bntt_model_width(model));
  }
  samples.model = model;
  samples.bytes = inputs;
  samples.logits = logits;
  samples.count = (int64_t)(bytes / sample);
  if (strcmp(argv[1], "events") == 0) {
    check_events(&samples, argv[5]);
  } else if (argc > 6) {
    void* membranes = contents(argv[6], &ignored);
    check_membranes(&samples, membranes, ignored);
    free(membranes);
    check_predictions(&samples);
    check_file(&samples, argv[5]);
    check_session(&samples);
    check_threads(&samples);
  } else {
    return 2;
  }
  bntt_model_free(model);
  free(inputs);
  free(logits);
  return complaints == 0 ? 0 : 1;
}
