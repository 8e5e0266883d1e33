#include "fetch/download.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/fail.h"
#include "base/text.h"
#include "fetch/part_file.h"

namespace bntt {
namespace {

using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

constexpr long kWhole = 200;
constexpr long kPartial = 206;
constexpr long kBeyondTheEnd = 416;

enum class End { complete, cut, stopped };

struct Outcome {
  End end = End::complete;
  std::string reason;  ///< why the connection was cut
};

/// The headers of the last answer; those of redirections are discarded.
struct Answer {
  std::string etag;
  std::string last_modified;
  std::string content_range;

  // If-Range accepts only strong validators.
  std::string validator() const {
    return !etag.empty() && !etag.starts_with("W/") ? etag : last_modified;
  }
};

struct Range {
  uint64_t first = 0;
  uint64_t all = 0;  ///< 0: not given
};

bool read_number(std::string_view& text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// "bytes 100-199/200", "bytes 100-199/*" or, for a range beyond the end, "bytes */200".
std::optional<Range> parse_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  Range range;
  uint64_t last = 0;
  if (text.starts_with('*')) {
    text.remove_prefix(1);
  } else {
    if (!read_number(text, range.first) || !text.starts_with('-')) return std::nullopt;
    text.remove_prefix(1);
    if (!read_number(text, last)) return std::nullopt;
  }
  if (!text.starts_with('/')) return std::nullopt;
  text.remove_prefix(1);
  if (text != "*" && !read_number(text, range.all)) return std::nullopt;
  return range;
}

std::string trimmed(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// One connection. libcurl's callbacks are C: exceptions in them are rethrown after the transfer.
class Connection {
 public:
  Connection(const DownloadRequest& request, const DownloadOptions& options, PartFile& part)
      : request_(request),
        options_(options),
        part_(part),
        curl_(curl_easy_init(), curl_easy_cleanup),
        headers_(nullptr, curl_slist_free_all) {
    if (curl_ == nullptr) fail("{}: libcurl cannot be started", request.url);
  }

  Outcome run() {
    set_up();
    const CURLcode code = curl_easy_perform(curl_.get());
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    if (code == CURLE_ABORTED_BY_CALLBACK) return {End::stopped, {}};
    switch (code) {
      case CURLE_OK:
        break;
      case CURLE_PARTIAL_FILE:
      case CURLE_RECV_ERROR:
      case CURLE_SEND_ERROR:
      case CURLE_GOT_NOTHING:
      case CURLE_OPERATION_TIMEDOUT:
      case CURLE_HTTP2:
      case CURLE_HTTP2_STREAM:
        return {End::cut, curl_easy_strerror(code)};
      default:
        fail("{}: cannot be fetched: {}", request_.url, explanation(code));
    }
    if (status() == kBeyondTheEnd) return beyond_the_end();
    if (!accepted_) accept();  // an empty body causes no callback
    if (request_.bytes != 0 && part_.size() < request_.bytes) {
      return {End::cut, "the server sent less than the whole file"};
    }
    return {};
  }

 private:
  template <typename T>
  void set(CURLoption option, T value) {
    BNTT_CHECK(curl_easy_setopt(curl_.get(), option, value) == CURLE_OK);
  }

  void set_up() {
    set(CURLOPT_URL, request_.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    // A transfer that begins encrypted must stay encrypted.
    const bool secure = request_.url.size() > 5 && same_word(request_.url.substr(0, 6), "https:");
    set(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_USERAGENT, "bntt");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(options_.connect_seconds));
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.stall_seconds));
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_WRITEFUNCTION, &Connection::on_body);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_HEADERFUNCTION, &Connection::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Connection::on_progress);
    set(CURLOPT_XFERINFODATA, this);
    if (part_.size() == 0) return;
    range_ = std::to_string(part_.size()) + "-";
    set(CURLOPT_RANGE, range_.c_str());
    const PartOrigin& origin = part_.origin();
    if (origin.url == request_.url && !origin.validator.empty()) {
      headers_.reset(curl_slist_append(nullptr, ("If-Range: " + origin.validator).c_str()));
      set(CURLOPT_HTTPHEADER, headers_.get());
    }
  }

  long status() const {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

  std::string explanation(CURLcode code) const {
    return error_.front() != '\0' ? std::string(error_.data()) : curl_easy_strerror(code);
  }

  uint64_t limit() const { return request_.bytes != 0 ? request_.bytes : request_.max_bytes; }

  /// Called before the first byte: checks that this is the file and continues where ours ends.
  void accept() {
    accepted_ = true;
    if (status() == kWhole) {
      part_.restart({request_.url, answer_.validator()});
    } else if (status() == kPartial) {
      const std::optional<Range> range = parse_range(answer_.content_range);
      if (!range || range->first != part_.size()) {
        fail("{}: the server sent the range '{}', expected one from byte {}", request_.url,
             excerpt(answer_.content_range), part_.size());
      }
      if (request_.bytes != 0 && range->all != 0 && range->all != request_.bytes) {
        refuse_size(range->all);
      }
    } else {
      fail("{}: the server answered with status {}, expected 200", request_.url, status());
    }
    curl_off_t length = -1;
    curl_easy_getinfo(curl_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length < 0) return;
    all_ = part_.size() + static_cast<uint64_t>(length);
    if (all_ > limit() || (request_.bytes != 0 && all_ != request_.bytes)) refuse_size(all_);
  }

  [[noreturn]] void refuse_size(uint64_t announced) {
    part_.remove();
    fail("{}: the server announces {} bytes, expected {}{}", request_.url, announced,
         request_.bytes != 0 ? "" : "at most ", limit());
  }

  void take(std::span<const uint8_t> bytes) {
    if (!accepted_) accept();
    if (part_.size() + bytes.size() > limit()) {
      part_.remove();
      fail("{}: the server sent more than the expected {} bytes", request_.url, limit());
    }
    part_.append(bytes);
  }

  // Either the file is already complete, or our part does not belong to this file.
  Outcome beyond_the_end() {
    const std::optional<Range> range = parse_range(answer_.content_range);
    if (range && range->all == part_.size()) return {};
    part_.restart({request_.url, {}});
    return {End::cut, "the part downloaded earlier does not belong to the file"};
  }

  void header(std::string_view line) {
    if (line.starts_with("HTTP/")) answer_ = {};
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view name = line.substr(0, colon);
    const std::string value = trimmed(line.substr(colon + 1));
    if (same_word(name, "etag")) answer_.etag = value;
    if (same_word(name, "last-modified")) answer_.last_modified = value;
    if (same_word(name, "content-range")) answer_.content_range = value;
  }

  template <typename Action>
  bool guarded(const Action& action) noexcept {
    try {
      action();
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
    auto* connection = static_cast<Connection*>(self);
    const std::size_t bytes = size * count;
    // The body of "416 Range Not Satisfiable" adds nothing to its headers.
    if (connection->status() == kBeyondTheEnd) return bytes;
    const bool taken = connection->guarded([&] {
      connection->take({reinterpret_cast<const uint8_t*>(data), bytes});
    });
    return taken ? bytes : CURL_WRITEFUNC_ERROR;
  }

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
    auto* connection = static_cast<Connection*>(self);
    const std::size_t bytes = size * count;
    const bool read = connection->guarded([&] { connection->header({data, bytes}); });
    return read ? bytes : 0;
  }

  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto* connection = static_cast<Connection*>(self);
    bool stop = false;
    const bool told = connection->guarded([&] {
      const DownloadOptions& options = connection->options_;
      const uint64_t all =
          connection->request_.bytes != 0 ? connection->request_.bytes : connection->all_;
      stop = options.progress && options.progress(connection->part_.size(), all);
    });
    return stop || !told ? 1 : 0;
  }

  const DownloadRequest& request_;
  const DownloadOptions& options_;
  PartFile& part_;
  Curl curl_;
  HeaderList headers_;
  std::string range_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  Answer answer_;
  bool accepted_ = false;
  uint64_t all_ = 0;  // as announced; 0: not given
  std::exception_ptr failure_;
};

// Returns true if it was stopped while waiting.
bool wait(const DownloadOptions& options, uint64_t done, uint64_t all) {
  constexpr std::chrono::milliseconds kSlice{50};
  for (std::chrono::milliseconds waited{0}; waited < options.pause; waited += kSlice) {
    if (options.progress && options.progress(done, all)) return true;
    std::this_thread::sleep_for(std::min(kSlice, options.pause - waited));
  }
  return false;
}

// Without a checksum, only the server can tell whether our part belongs to the same file.
bool usable(const PartFile& part, const DownloadRequest& request) {
  if (part.size() == 0) return true;
  if (request.bytes != 0 && part.size() > request.bytes) return false;
  if (request.checksum) return true;
  return part.origin().url == request.url && !part.origin().validator.empty();
}

/// Returns false if it was stopped.
bool fill(PartFile& part, const DownloadRequest& request, const DownloadOptions& options) {
  int attempts = 0;
  while (request.bytes == 0 || part.size() < request.bytes) {
    const uint64_t before = part.size();
    const Outcome outcome = Connection(request, options, part).run();
    if (outcome.end == End::stopped) return false;
    if (outcome.end == End::complete) return true;
    attempts = part.size() > before ? 1 : attempts + 1;
    if (attempts >= options.attempts) {
      fail(
          "{}: the connection was lost after {} bytes ({}); run the same command again to continue",
          request.url, part.size(), outcome.reason);
    }
    if (wait(options, part.size(), request.bytes)) return false;
  }
  return true;
}

DownloadResult fetch_into(PartFile& part, const DownloadRequest& request,
                          const DownloadOptions& options) {
  if (!usable(part, request)) part.restart({request.url, {}});
  DownloadResult result{.resumed_from = part.size()};
  result.stopped = !fill(part, request, options);
  result.bytes = part.size();
  if (result.stopped) return result;
  const DigestKind kind = request.checksum ? request.checksum->kind : DigestKind::sha256;
  const std::optional<Checksum> checksum = file_checksum(kind, part.path());
  result.checksum = checksum.value();
  if (request.checksum && result.checksum != *request.checksum) {
    part.remove();
    fail("{}: the downloaded file has the {} {}, expected {}, and was removed", request.url,
         digest_name(kind), result.checksum.hex, request.checksum->hex);
  }
  part.complete();
  return result;
}

}  // namespace

DownloadResult download(const DownloadRequest& request, const DownloadOptions& options) {
  static std::once_flag started;
  std::call_once(started, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  PartFile part(request.path);
  try {
    DownloadResult result = fetch_into(part, request, options);
    if (result.bytes == 0) part.remove();
    return result;
  } catch (...) {
    if (part.size() == 0) part.remove();
    throw;
  }
}

}  // namespace bntt
