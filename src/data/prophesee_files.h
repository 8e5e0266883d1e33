#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/event_files.h"

namespace bntt {

/// The maximum number of events of a recording held in memory, 2 GiB: as many as 1 GiB of AEDAT 2.0
/// holds. A vector word of EVT 3.0 encodes up to twelve events in two bytes, so the size of the
/// file is no bound.
inline constexpr std::size_t kMostEvents = std::size_t{1} << 27;

// Files of Prophesee's cameras. The sensor is unknown if the file does not give it. `origin` starts
// every error sentence.

/// A .raw file: header lines "% key value" up to "% end" or the first line without "%", then EVT
/// 2.0 or EVT 3.0 words, according to the key `format` (or `evt` in older files). The sensor is
/// given in `format`, in `geometry` or in `width` and `height`.
Recording parse_raw(std::span<const uint8_t> bytes, const std::string& origin);

/// A .dat file of version 2, such as those of N-CARS: header lines as in .raw files with `Version`
/// and optionally `Width` and `Height`; a byte for the type of the events (0 or 12) and one for
/// their size (8); then for each event 32 bits of microseconds, 14 of x, 14 of y and 4 of polarity
/// (1 is on), little-endian.
Recording parse_dat(std::span<const uint8_t> bytes, const std::string& origin);

/// EVT 2.0 from byte `begin` on: words of 32 bits, little-endian, whose highest four bits are the
/// type. 0 (off) and 1 (on): an event with the 6 low bits of the microseconds at bit 22, x at bit
/// 11, y at bit 0. 8: the 28 high bits of the microseconds. Triggers and other words are skipped,
/// and so are events before the first word of type 8, whose time is unknown.
std::vector<Event> decode_evt2(std::span<const uint8_t> bytes, std::size_t begin,
                               const std::string& origin);

/// EVT 3.0 from byte `begin` on: words of 16 bits, little-endian, whose highest four bits are the
/// type; each changes the state or produces events from it. 0: y (if bit 11 is set, of a second
/// camera, whose events are skipped). 2: an event at x, polarity in bit 11. 3: x and polarity at
/// which vectors begin. 4 and 5: an event for each set bit of the 12 or 8, from the vector's x on;
/// the next vector begins after them. 6 and 8: the 12 low and the 12 high bits of the microseconds.
/// Triggers and other words are skipped, and so are events whose time, y or x is not known yet.
std::vector<Event> decode_evt3(std::span<const uint8_t> bytes, std::size_t begin,
                               const std::string& origin);

}  // namespace bntt
