#pragma once

#include "analyse/activity.h"
#include "analyse/early_exit.h"
#include "analyse/energy.h"
#include "analyse/robustness.h"
#include "base/json.h"

namespace bntt {

/// One key per field, with the field's name; absent optionals have no key; enums are written by
/// name. analysis_fields.h has the schema, and docs/analyses.md explains every number.
Json to_json(const ExitStudy& study);
Json to_json(const ActivityStudy& study);
Json to_json(const EnergyStudy& study);
Json to_json(const RobustnessStudy& study);

}  // namespace bntt
