#include "base/check.h"
#include "data/recordings.h"
#include "fuzz_events.h"

// The first byte chooses the ending of the file's name and whether a sensor is set.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::vector<std::string>& extensions = bntt::recording_extensions();
  const std::string& extension = extensions[data[0] % extensions.size()];
  const bntt::SensorSize set = data[0] < 128 ? bntt::SensorSize{} : bntt::SensorSize{640, 480};
  try {
    const bntt::Recording recording =
        bntt::parse_recording({data + 1, size - 1}, extension, set, "fuzz");
    BNTT_CHECK(recording.sensor.known());
    bntt::fuzz::count(recording.events, {.sensor = recording.sensor, .side = 34});
  } catch (const bntt::Error&) {
  }
  return 0;
}
