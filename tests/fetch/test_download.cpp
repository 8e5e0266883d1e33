#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "directory_state.h"
#include "fetch/download.h"
#include "fixtures.h"
#include "loopback_server.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using testing::http_head;
using testing::HttpReply;
using testing::HttpRequest;
using ::testing::IsEmpty;
using testing::LoopbackServer;
using testing::names_in;
using testing::noise;
using testing::refusal;
using testing::serve_files;
using testing::text_of;
using testing::write_text;

Checksum md5_of(const std::string& text) {
  return checksum_of(DigestKind::md5, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

class Download : public ::testing::Test {
 protected:
  DownloadRequest request(const LoopbackServer& server) const {
    return {.url = server.url("/file"),
            .path = path("file"),
            .bytes = body_.size(),
            .checksum = md5_of(body_)};
  }
  /// Of a publisher who says nothing of size and checksum.
  DownloadRequest bare_request(const LoopbackServer& server) const {
    return {.url = server.url("/file"), .path = path("file"), .max_bytes = 1'000'000};
  }
  std::filesystem::path path(const std::string& name) const { return directory_.path() / name; }
  std::vector<std::string> names() const { return names_in(directory_.path()); }

  /// Sends the first `bytes` of what is asked for and closes.
  testing::HttpHandler cutting_after(std::size_t bytes) const {
    return [this, bytes](const HttpRequest& asked, const HttpReply& reply) {
      const std::string range = asked.header("range");
      const std::size_t first = range.empty() ? 0 : std::stoul(range.substr(6));
      const std::string size = std::to_string(body_.size());
      const std::string length = "Content-Length: " + std::to_string(body_.size() - first);
      reply.send(range.empty() ? http_head("200 OK", {"ETag: \"v1\"", length})
                               : http_head("206 Partial Content",
                                           {"ETag: \"v1\"", length,
                                            "Content-Range: bytes " + std::to_string(first) + "-" +
                                                std::to_string(body_.size() - 1) + "/" + size}));
      reply.send(body_.substr(first, bytes));
    };
  }

  const testing::TemporaryDirectory directory_;
  const std::string body_ = noise(200'000);
  const DownloadOptions once_{.attempts = 1, .pause = std::chrono::milliseconds(0)};
};

TEST_F(Download, BringsTheWholeFileAndNothingElse) {
  const LoopbackServer server(serve_files({{"/file", body_}}));
  uint64_t last = 0;
  const DownloadResult result =
      download(request(server), {.progress = [&](uint64_t done, uint64_t all) {
                 EXPECT_EQ(all, body_.size());
                 EXPECT_GE(done, last);
                 last = done;
                 return false;
               }});
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.bytes, body_.size());
  EXPECT_EQ(result.checksum, md5_of(body_));
  EXPECT_EQ(last, body_.size());
  EXPECT_THAT(names(), ElementsAre("file"));
  EXPECT_EQ(text_of(path("file")), body_);
}

TEST_F(Download, GoesOnWhereTheConnectionWasCut) {
  const LoopbackServer server(cutting_after(70'000));
  download(request(server), {.attempts = 2, .pause = std::chrono::milliseconds(0)});
  EXPECT_EQ(text_of(path("file")), body_);
  ASSERT_EQ(server.requests().size(), 3U);
  EXPECT_EQ(server.requests()[0].header("range"), "");
  EXPECT_EQ(server.requests()[1].header("range"), "bytes=70000-");
  EXPECT_EQ(server.requests()[1].header("if-range"), "\"v1\"");
  EXPECT_EQ(server.requests()[2].header("range"), "bytes=140000-");
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(Download, ACutLeavesAPartThatTheNextTimeGoesOnWith) {
  {
    const LoopbackServer server(cutting_after(70'000));
    EXPECT_EQ(refusal([&] { download(request(server), once_); }),
              server.url("/file") +
                  ": the connection was lost after 70000 bytes (Transferred a partial file); run "
                  "the same command again to continue");
    EXPECT_THAT(names(), ElementsAre("file.part", "file.part.json"));
  }
  const LoopbackServer server(serve_files({{"/file", body_}}));
  const DownloadResult result = download(request(server), once_);
  EXPECT_EQ(result.resumed_from, 70'000U);
  EXPECT_EQ(server.requests().at(0).header("range"), "bytes=70000-");
  EXPECT_EQ(text_of(path("file")), body_);
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(Download, WithoutAChecksumGoesOnOnlyWithTheServersWord) {
  {
    const LoopbackServer server([this](const HttpRequest& asked, const HttpReply& reply) {
      // The file changes between the first and the second time.
      if (asked.header("range").empty()) return cutting_after(70'000)(asked, reply);
      serve_files({{"/file", "another file"}}, "\"v2\"")(asked, reply);
    });
    download(bare_request(server), {.attempts = 2, .pause = std::chrono::milliseconds(0)});
    EXPECT_EQ(server.requests().at(1).header("if-range"), "\"v1\"");
    EXPECT_EQ(text_of(path("file")), "another file");
  }
  // A part of which nobody knows the origin is worth nothing.
  std::filesystem::remove(path("file"));
  write_text(path("file.part"), "rubbish");
  const LoopbackServer server(serve_files({{"/file", body_}}));
  EXPECT_EQ(download(bare_request(server), once_).resumed_from, 0U);
  EXPECT_EQ(server.requests().at(0).header("range"), "");
  EXPECT_EQ(text_of(path("file")), body_);
}

TEST_F(Download, AServerWithoutRangesSendsItAllAgain) {
  write_text(path("file.part"), body_.substr(0, 50'000));
  const LoopbackServer server([this](const HttpRequest&, const HttpReply& reply) {
    reply.send(http_head("200 OK", {"Content-Length: " + std::to_string(body_.size())}) + body_);
  });
  download(request(server), once_);
  EXPECT_EQ(server.requests().at(0).header("range"), "bytes=50000-");
  EXPECT_EQ(text_of(path("file")), body_);
}

TEST_F(Download, APartThatIsWholeNeedsNoConnection) {
  write_text(path("file.part"), body_);
  const LoopbackServer server(serve_files({}));
  download(request(server), once_);
  EXPECT_THAT(server.requests(), IsEmpty());
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(Download, APartBeyondTheEndIsReplaced) {
  write_text(path("file.part"), body_ + "more");
  const LoopbackServer server(serve_files({{"/file", body_}}));
  DownloadRequest asked = request(server);
  asked.bytes = 0;
  asked.max_bytes = 1'000'000;
  download(asked, {.attempts = 2, .pause = std::chrono::milliseconds(0)});
  EXPECT_EQ(text_of(path("file")), body_);
  ASSERT_EQ(server.requests().size(), 2U);
}

TEST_F(Download, AWrongChecksumRemovesWhatCame) {
  const LoopbackServer server(serve_files({{"/file", body_}}));
  DownloadRequest asked = request(server);
  asked.checksum->hex = std::string(32, '0');
  EXPECT_EQ(refusal([&] { download(asked, once_); }),
            server.url("/file") + ": the downloaded file has the md5 " + md5_of(body_).hex +
                ", expected " + std::string(32, '0') + ", and was removed");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Download, AMissingFileIsOneSentence) {
  const LoopbackServer server(serve_files({}));
  EXPECT_EQ(refusal([&] { download(request(server), once_); }),
            server.url("/file") + ": the server answered with status 404, expected 200");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Download, AnEndlessBodyIsBounded) {
  const LoopbackServer server([](const HttpRequest&, const HttpReply& reply) {
    reply.send(http_head("200 OK", {}));
    const std::string piece(10'000, 'x');
    while (reply.send(piece)) {
    }
  });
  EXPECT_EQ(refusal([&] { download(request(server), once_); }),
            server.url("/file") + ": the server sent more than the expected 200000 bytes");
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(refusal([&] { download(bare_request(server), once_); }),
            server.url("/file") + ": the server sent more than the expected 1000000 bytes");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Download, ASizeOtherThanThePublishedOneIsRefusedBeforeItComes) {
  const LoopbackServer server(serve_files({{"/file", body_ + "!"}}));
  EXPECT_EQ(refusal([&] { download(request(server), once_); }),
            server.url("/file") + ": the server announces 200001 bytes, expected 200000");
  DownloadRequest bounded = bare_request(server);
  bounded.max_bytes = 10;
  EXPECT_EQ(refusal([&] { download(bounded, once_); }),
            server.url("/file") + ": the server announces 200001 bytes, expected at most 10");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Download, ARangeThatDoesNotFitIsRefused) {
  write_text(path("file.part"), body_.substr(0, 50'000));
  const LoopbackServer server([this](const HttpRequest&, const HttpReply& reply) {
    reply.send(http_head("206 Partial Content",
                         {"Content-Range: bytes 0-199999/200000", "Content-Length: 200000"}) +
               body_);
  });
  EXPECT_EQ(refusal([&] { download(request(server), once_); }),
            server.url("/file") +
                ": the server sent the range 'bytes 0-199999/200000', expected "
                "one from byte 50000");
  EXPECT_EQ(text_of(path("file.part")), body_.substr(0, 50'000));
}

TEST_F(Download, FollowsRedirectionsButNotOutOfTheWeb) {
  const LoopbackServer server([this](const HttpRequest& asked, const HttpReply& reply) {
    if (asked.path == "/file") {
      reply.send(
          http_head("302 Found", {"Location: /there", "ETag: \"old\"", "Content-Length: 0"}));
    } else if (asked.path == "/trap") {
      reply.send(http_head("302 Found", {"Location: file:///etc/passwd", "Content-Length: 0"}));
    } else {
      serve_files({{"/there", body_}})(asked, reply);
    }
  });
  download(request(server), once_);
  EXPECT_EQ(text_of(path("file")), body_);
  DownloadRequest trap = bare_request(server);
  trap.url = server.url("/trap");
  trap.path = path("trap");
  EXPECT_THAT(refusal([&] { download(trap, once_); }),
              ::testing::StartsWith(trap.url + ": cannot be fetched: "));
  trap.url = "file:///etc/passwd";
  EXPECT_THAT(refusal([&] { download(trap, once_); }),
              ::testing::StartsWith(trap.url + ": cannot be fetched: "));
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(Download, ASilentServerCountsAsCut) {
  const LoopbackServer server([this](const HttpRequest&, const HttpReply& reply) {
    reply.send(http_head("200 OK", {"Content-Length: 200000"}) + body_.substr(0, 1000));
    reply.hold();
  });
  DownloadOptions impatient = once_;
  impatient.stall_seconds = 1;
  EXPECT_EQ(refusal([&] { download(request(server), impatient); }),
            server.url("/file") +
                ": the connection was lost after 1000 bytes (Timeout was reached); run the same "
                "command again to continue");
}

TEST_F(Download, StopsWhenAskedAndKeepsThePart) {
  const LoopbackServer server([this](const HttpRequest&, const HttpReply& reply) {
    reply.send(http_head("200 OK", {"Content-Length: 200000"}) + body_.substr(0, 1000));
    reply.hold();
  });
  const DownloadResult result =
      download(request(server), {.progress = [](uint64_t done, uint64_t) { return done >= 1000; }});
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.bytes, 1000U);
  EXPECT_EQ(text_of(path("file.part")), body_.substr(0, 1000));
  EXPECT_FALSE(std::filesystem::exists(path("file")));
}

TEST_F(Download, WritesThroughNoLink) {
  write_text(path("precious"), "precious");
  std::filesystem::create_symlink(path("precious"), path("file.part"));
  const LoopbackServer server(serve_files({{"/file", body_}}));
  EXPECT_THAT(refusal([&] { download(request(server), once_); }),
              ::testing::StartsWith(path("file.part").string() + ": cannot be opened: "));
  EXPECT_EQ(text_of(path("precious")), "precious");
}

}  // namespace
}  // namespace bntt
