#include "bench/job.h"

namespace bntt::bench {

template <class Visitor>
void visit_fields(Visitor& visit, TorchVariant& variant) {
  visit("layout", variant.layout);
  visit("precision", variant.precision);
  visit("form", variant.form);
}

template <class Visitor>
void visit_fields(Visitor& visit, Job& job) {
  visit("kind", job.kind);
  visit("batch", job.batch, at_least(1));
  visit("threads", job.threads, at_least(1));
  visit("network", job.network);
  visit("images", job.images);
  visit("precision", job.precision);
  visit("torch", job.torch);
  visit("rule", job.rule);
  visit("share", job.share);
}

std::string describe(const TorchVariant& variant, Kind kind) {
  const std::string layout = name_of(variant.layout);
  return kind == Kind::infer ? layout + ", " + name_of(variant.form) : layout;
}

int64_t images_per_unit(Kind kind, int64_t batch) {
  constexpr int64_t kSeveral = 16;
  return kind == Kind::train ? batch : std::max<int64_t>(1, kSeveral / batch) * batch;
}

std::string to_json(const Job& job) { return write_fields(job).dump(); }

Job job_from_json(const std::string& text) {
  Job job;
  read_fields(parse_json(text, "job"), job, "job");
  return job;
}

}  // namespace bntt::bench
