/** \file
 * The C interface of bntt: trained networks in any language that can call C.
 * \code
 *   bntt_model* model = NULL;
 *   bntt_results results;
 *   int64_t label = 0;
 *   bntt_results_init(&results, sizeof results);
 *   results.labels = &label;
 *   int code = bntt_model_load("runs/demo", &model);
 *   if (code == BNTT_OK) code = bntt_predict_file(model, "boot.png", NULL, &results);
 *   puts(code == BNTT_OK ? bntt_model_class_name(model, label) : bntt_last_error());
 *   bntt_model_free(model);
 * \endcode
 * Link with -lbntt_c. Compiles as C99 and as C++.
 *
 * Compatibility: within libbntt_c.so.1 no function disappears or changes its meaning, no code
 * changes its number, and structs only grow at their end. A program built with one version runs
 * with every later one of the same number. A program that sets a field unknown to an older library
 * gets BNTT_ERROR, never a wrong answer.
 *
 * Threads: any number of threads may use one model at the same time. A session belongs to one
 * thread at a time; each thread creates its own from a shared model. Answers depend neither on the
 * number of threads nor on what else is running.
 *
 * Memory: buffers belong to the caller. A `const char *` that a function returns belongs to the
 * library and stays valid as long as its comment says. */
#ifndef BNTT_BNTT_H
#define BNTT_BNTT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Return codes of the functions that return int. bntt_last_error() gives the details. */
enum {
  BNTT_OK = 0,        /**< done */
  BNTT_ERROR = 1,     /**< a wrong file or argument; nothing was changed */
  BNTT_NO_MEMORY = 2, /**< the machine does not have enough memory for this */
  BNTT_CANCELLED = 3, /**< the progress callback stopped the call; results hold what was done */
  BNTT_INTERNAL = 4   /**< a bug in the library */
};

/** One sentence about the calling thread's last failed call; "" before the first. Valid until the
 * thread's next failed call. */
const char* bntt_last_error(void);

/** Version of the running library, such as "0.1.0"; always valid. */
const char* bntt_version(void);

/* ---- Options ------------------------------------------------------------------------------- */

/** Called from time to time with the number of samples done. Any return value but 0 stops the call,
 * which returns BNTT_CANCELLED. */
typedef int (*bntt_progress)(int64_t samples_done, void* user_data);

/** Options of a call. Always initialise them with bntt_options_init. */
typedef struct bntt_options {
  size_t size;            /**< of the struct as the caller knows it */
  int64_t steps;          /**< stop after this many; 0: all */
  double exit_confidence; /**< from 0 to 1: a sample stops when its softmax reaches it; -1: never */
  uint32_t first_sample;  /**< number of the first sample, which determines its random spikes */
  int32_t threads;        /**< for this call; 0: one per core */
  bntt_progress progress; /**< NULL: none */
  void* user_data;        /**< passed to progress */
} bntt_options;

/** Sets the defaults: all steps, no exit, first sample 0, one thread per core, no callback.
 * \code
 *   bntt_options options;
 *   bntt_options_init(&options, sizeof options);
 * \endcode
 * Returns BNTT_ERROR for a size that no version of the struct ever had. */
int bntt_options_init(bntt_options* options, size_t size);

/** Where to write answers: every pointer is a buffer of the caller, or NULL if not wanted. */
typedef struct bntt_results {
  size_t size;          /**< of the struct as the caller knows it */
  int64_t* labels;      /**< [sample]: the class with the largest logit, the first of equals */
  float* logits;        /**< [sample, class] */
  float* probabilities; /**< [sample, class]: their softmax */
  int64_t* steps;       /**< [sample]: steps it took */
  int64_t* spikes;      /**< [sample]: of hidden neurons; samples then run one by one */
} bntt_results;

/** Sets all to NULL. Returns BNTT_ERROR for a size that no version of the struct ever had. */
int bntt_results_init(bntt_results* results, size_t size);

/* ---- Models: read-only, shared by threads -------------------------------------------------- */

/** A trained network with everything that inference needs. */
typedef struct bntt_model bntt_model;

/** Loads a run's directory or one .safetensors file. BNTT_ERROR for damaged or foreign files. */
int bntt_model_load(const char* path, bntt_model** model);
/** Accepts NULL. Sessions of the model stay usable. */
void bntt_model_free(bntt_model* model);

/* The next six return 0 for NULL, and set the error. */

/** The number of classes. */
int64_t bntt_model_classes(const bntt_model* model);
/** The number of steps of a whole run. */
int64_t bntt_model_steps(const bntt_model* model);
/** Channels of the input: 1 or 3 for images, 2 for event recordings. */
int64_t bntt_model_channels(const bntt_model* model);
/** Height of the input in pixels. */
int64_t bntt_model_height(const bntt_model* model);
/** Width of the input in pixels. */
int64_t bntt_model_width(const bntt_model* model);
/** Frames of counts in one sample, for a model of event recordings; 0 for a model of images. */
int64_t bntt_model_frames(const bntt_model* model);
/** The name of a class, or its number if no names are known; valid until the model is freed. NULL
 * for a label out of range. */
const char* bntt_model_class_name(const bntt_model* model, int64_t label);

/* ---- Predictions: the logits of `bntt eval`, bit for bit ------------------------------------ */
/* `options` may be NULL for the defaults. */

/** Images of bytes [image, y, x, channel], of any size, with 1 or 3 channels. */
int bntt_predict(const bntt_model* model, const uint8_t* pixels, int64_t images, int64_t height,
                 int64_t width, int64_t channels, const bntt_options* options,
                 bntt_results* results);
/** Images of values 0 to 1 in the size of the model: [image, y, x, channel]. BNTT_ERROR for other
 * values. */
int bntt_predict_values(const bntt_model* model, const float* values, int64_t images,
                        const bntt_options* options, bntt_results* results);
/** Event counts in the size of the model: [recording, frame, y, x, polarity], off before on. */
int bntt_predict_events(const bntt_model* model, const uint8_t* counts, int64_t recordings,
                        const bntt_options* options, bntt_results* results);
/** One PNG or JPEG file; for a model of event recordings, one recording. A recording that does not
 * state its sensor has that of the model's training. */
int bntt_predict_file(const bntt_model* model, const char* path, const bntt_options* options,
                      bntt_results* results);

/* ---- Sessions: step by step ----------------------------------------------------------------- */

/** The state of a network that runs step by step. */
typedef struct bntt_session bntt_session;

/** For `batch` samples at a time. Of the options, only first_sample and threads are used. */
int bntt_session_create(const bntt_model* model, int64_t batch, const bntt_options* options,
                        bntt_session** session);
/** Accepts NULL. */
void bntt_session_free(bntt_session* session);

/** Resets the neurons to rest. */
int bntt_session_restart(bntt_session* session);
/** Restarts with these images [image, y, x, channel] as the input of all steps; copies them. */
int bntt_session_show(bntt_session* session, const uint8_t* pixels, int64_t height, int64_t width,
                      int64_t channels);
/** Takes this many steps of the images shown. */
int bntt_session_advance(bntt_session* session, int64_t steps);
/** Takes one step with a frame of event counts in the model's size: [recording, y, x, polarity]. */
int bntt_session_advance_events(bntt_session* session, const uint8_t* counts);

/** The steps since the last restart. 0 for NULL, with the error set. */
int64_t bntt_session_steps_done(const bntt_session* session);
/** 1 if all steps are done, otherwise 0. For NULL it is 0, with the error set, so check the session
 * before a loop that waits for 1. */
int bntt_session_done(const bntt_session* session);
/** The logits from the readout's voltage so far: [sample, class]. */
int bntt_session_logits(const bntt_session* session, float* logits);
/** The softmax of the voltage, divided by the steps so far if the network divides: [sample, class].
 */
int bntt_session_probabilities(const bntt_session* session, float* probabilities);
/** The voltages of a layer's neurons, after any reset: [sample, y, x, channel]. `bntt inspect`
 * shows the names of the layers. *count is the room in `voltages` and becomes the number of
 * voltages; if `voltages` is NULL, only the number is written. BNTT_ERROR for an unknown layer, for
 * too little room, and if the layer's neurons keep no voltage from step to step. */
int bntt_session_membranes(const bntt_session* session, const char* layer, float* voltages,
                           int64_t* count);

#ifdef __cplusplus
}
#endif

#endif
