/* Names the object in a picture, in C:
 *   classify_c runs/demo picture.png */
#include <bntt/bntt.h>
#include <stdio.h>

int main(int argc, char** argv) {
  bntt_model* model = NULL;
  bntt_results results;
  int64_t label = 0;
  int code = BNTT_OK;
  if (argc != 3) return fprintf(stderr, "usage: classify_c MODEL PICTURE\n"), 2;
  bntt_results_init(&results, sizeof results);
  results.labels = &label;
  code = bntt_model_load(argv[1], &model);
  if (code == BNTT_OK) code = bntt_predict_file(model, argv[2], NULL, &results);
  puts(code == BNTT_OK ? bntt_model_class_name(model, label) : bntt_last_error());
  bntt_model_free(model);
  return code == BNTT_OK ? 0 : 2;
}
