#include "experiment/run_records.h"

#include "base/fail.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/threads.h"

namespace bntt {

RunRecords::RunRecords(std::filesystem::path file)
    : file_(std::move(file)), records_(Json::object()) {
  if (std::filesystem::exists(file_)) records_ = parse_json(read_text(file_), file_.string());
  if (!records_.is_object())
    fail("{}: expected an object, with the records of runs", file_.string());
  for (const auto& [run, record] : records_.items()) {
    const bool whole = record.is_object() && record.value("work", Json(0.0)).is_number() &&
                       record.value("seconds", Json(0.0)).is_number() &&
                       record.value("kind", Json("")).is_string() &&
                       record.value("diverged", Json(false)).is_boolean();
    if (!whole) fail("{}: '{}' is not the record of a run", file_.string(), run);
  }
}

bool RunRecords::diverged(const std::string& run) const {
  return records_.contains(run) && records_[run].value("diverged", false);
}

void RunRecords::set_diverged(const std::string& run) {
  records_[run]["diverged"] = true;  // creates the object if there is none
  write();
}

void RunRecords::add(const std::string& run, WorkKind kind, double work, double seconds) {
  Json& record = records_.emplace(run, Json::object()).first.value();
  record["kind"] = name_of(kind);
  record["work"] = record.value("work", 0.0) + work;
  record["seconds"] = record.value("seconds", 0.0) + seconds;
  write();
}

/// Of one kind, or of all. Records of earlier versions, which do not name their kind, are left out.
RunRecords::Timed RunRecords::timed(std::optional<WorkKind> kind) const {
  Timed sum;
  for (const auto& [run, record] : records_.items()) {
    for (const auto& [known, name] : enum_names(WorkKind{})) {
      if (record.value("kind", "") != name || (kind && *kind != known)) continue;
      const double work = record.value("work", 0.0);
      sum.work += work;
      sum.seconds += record.value("seconds", 0.0);
      sum.guessed_seconds += work / (guessed_speed_of_a_core(known) * threads());
    }
  }
  return sum;
}

double RunRecords::speed(WorkKind kind) const {
  // Less than a second mostly measures file access.
  const auto enough = [](const Timed& sum) { return sum.seconds > 1.0 && sum.work > 0.0; };
  if (const Timed own = timed(kind); enough(own)) return own.work / own.seconds;
  const Timed all = timed(std::nullopt);
  const double guess = guessed_speed_of_a_core(kind) * threads();
  return enough(all) ? guess * all.guessed_seconds / all.seconds : guess;
}

void RunRecords::write() const { write_text_atomically(file_, records_.dump(2) + "\n"); }

}  // namespace bntt
