#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "bntt/error.h"
#include "data/sample_cache.h"

// The first two bytes are the form that is expected: digest, number and size of the samples.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size < 2 || data[1] % 16 == 0) return 0;
  const bntt::ShardForm form = {
      .digest = data[0], .samples = data[1] % 16, .sample_bytes = 1 + data[1] / 16};
  const bntt::Descriptor file(::memfd_create("shard", MFD_CLOEXEC));
  BNTT_CHECK(bntt::write_all(file.get(), data + 2, size - 2));
  try {
    std::vector<bntt::SampleFile> files;
    files.push_back(bntt::open_shard("/proc/self/fd/" + std::to_string(file.get()), form));
    const bntt::StoredSamples samples(std::move(files));
    BNTT_CHECK(samples.size() == form.samples);
    const auto mapped = samples.mapped();
    std::vector<uint8_t> bytes(static_cast<std::size_t>(form.sample_bytes));
    for (int64_t i = 0; i < form.samples; ++i) {
      samples.read(i, bytes.data());
      for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
        BNTT_CHECK(mapped && (*mapped)[i * bytes.size() + byte] == bytes[byte]);
      }
    }
  } catch (const bntt::Error&) {
  }
  return 0;
}
