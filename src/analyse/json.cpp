#include "analyse/json.h"

#include "analyse/analysis_fields.h"

namespace bntt {

Json to_json(const ExitStudy& study) { return write_fields(study); }
Json to_json(const ActivityStudy& study) { return write_fields(study); }
Json to_json(const EnergyStudy& study) { return write_fields(study); }
Json to_json(const RobustnessStudy& study) { return write_fields(study); }

}  // namespace bntt
