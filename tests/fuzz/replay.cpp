// Stands in for libFuzzer where there is no clang: every seed, then so many seeded mutations of the
// seeds. usage: replay MUTATIONS SEED_FILE...
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

void mutate(std::mt19937& random, Bytes& bytes) {
  const auto below = [&](std::size_t bound) { return random() % bound; };
  const std::size_t changes = 1 + below(4);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t place = bytes.empty() ? 0 : below(bytes.size());
    switch (below(bytes.empty() ? 1 : 6)) {
      case 0:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place),
                     static_cast<uint8_t>(random()));
        break;
      case 1:
        bytes[place] = static_cast<uint8_t>(random());
        break;
      case 2:
        bytes[place] ^= static_cast<uint8_t>(1U << below(8));
        break;
      case 3:
        bytes[place] = below(2) == 0 ? 0x00 : 0xff;
        break;
      case 4:
        bytes.resize(place);
        break;
      default:
        bytes.insert(bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(place), bytes.end());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<Bytes> seeds;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(seeds.back().data(), seeds.back().size());
  }
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same mutations every time
  const int mutations = std::stoi(argv[1]);
  for (int i = 0; i < mutations; ++i) {
    Bytes bytes = seeds[random() % seeds.size()];
    mutate(random, bytes);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu seeds and %d mutations survived\n", seeds.size(), mutations);
  return 0;
}
