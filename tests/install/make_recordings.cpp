// Writes a small data set in the format of N-MNIST below the directory of its argument: digit k is
// a bar of events at column 3 k.
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (int digit = 0; digit < 10; ++digit) {
    for (int recording = 0; recording < 8; ++recording) {
      const std::filesystem::path folder = std::filesystem::path(argv[1]) /
                                           (recording < 6 ? "Train" : "Test") /
                                           std::to_string(digit);
      std::filesystem::create_directories(folder);
      std::ofstream file(folder / (std::to_string(recording) + ".bin"), std::ios::binary);
      for (int event = 0; event < 400; ++event) {
        const int time_us = 250 * event;
        const int polarity = event % 2 == 0 ? 0x80 : 0;
        const std::array<int, 5> bytes = {3 * digit + event % 3, (7 * event + recording) % 34,
                                          polarity | time_us >> 16, time_us >> 8, time_us};
        for (const int byte : bytes) file.put(static_cast<char>(byte));
      }
    }
  }
}
