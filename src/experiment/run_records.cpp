#include "experiment/run_records.h"

#include "base/fail.h"
#include "base/files.h"
#include "base/threads.h"
#include "experiment/work.h"

namespace bntt {

RunRecords::RunRecords(std::filesystem::path file)
    : file_(std::move(file)), records_(Json::object()) {
  if (std::filesystem::exists(file_)) records_ = parse_json(read_text(file_), file_.string());
  if (!records_.is_object())
    fail("{}: expected an object, with the records of runs", file_.string());
  for (const auto& [run, record] : records_.items()) {
    const bool whole = record.is_object() && record.value("work", Json(0.0)).is_number() &&
                       record.value("seconds", Json(0.0)).is_number() &&
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

void RunRecords::add(const std::string& run, double work, double seconds) {
  Json& record = records_.emplace(run, Json::object()).first.value();
  record["work"] = record.value("work", 0.0) + work;
  record["seconds"] = record.value("seconds", 0.0) + seconds;
  write();
}

double RunRecords::speed() const {
  double work = 0.0;
  double seconds = 0.0;
  for (const auto& [run, record] : records_.items()) {
    work += record.value("work", 0.0);
    seconds += record.value("seconds", 0.0);
  }
  // Less than a second mostly measures file access.
  return seconds > 1.0 && work > 0.0 ? work / seconds : kGuessedSpeedOfACore * threads();
}

void RunRecords::write() const { write_text_atomically(file_, records_.dump(2) + "\n"); }

}  // namespace bntt
