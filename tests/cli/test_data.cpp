#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "archives.h"
#include "base/json.h"
#include "directory_state.h"
#include "fetch/digest.h"
#include "fixtures.h"
#include "loopback_server.h"
#include "process.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::http_head;
using testing::HttpReply;
using testing::HttpRequest;
using testing::idx_file;
using testing::LoopbackServer;
using testing::names_in;
using testing::Process;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::serve_files;
using testing::text_of;
using testing::write_text;

class DataCommand : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::string target() const { return path("target"); }

  /// Describes set.zip, which unpacks to `set`; `checksum` other than the archive's own is a lie.
  std::vector<std::string> get_arguments(const std::string& archive, const LoopbackServer& server,
                                         std::string checksum = "") const {
    if (checksum.empty()) {
      checksum = checksum_of(DigestKind::sha256,
                             {reinterpret_cast<const uint8_t*>(archive.data()), archive.size()})
                     .hex;
    }
    write_text(path("sources.toml"),
               "[[file]]\nname = 'set.zip'\nbytes = " + std::to_string(archive.size()) +
                   "\nsha256 = '" + checksum +
                   "'\nfolder = 'set'\nmax_entries = 3\nmax_unpacked_bytes = 1000000\n");
    return {"data",   "get",        "mine",       target(), "--sources", path("sources.toml"),
            "--from", server.url(), "--attempts", "1"};
  }
  /// Ends with exit code 2 and one sentence, and leaves `left` in the target directory.
  void expect_refusal(const std::vector<std::string>& arguments, const std::string& sentence,
                      const std::vector<std::string>& left) const {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_EQ(end.out, "");
    EXPECT_EQ(end.error, "bntt: " + sentence + "\n");
    const std::vector<std::string> found =
        std::filesystem::exists(target()) ? names_in(target()) : std::vector<std::string>();
    EXPECT_EQ(found, left);
  }

  const testing::TemporaryDirectory directory_;
  const std::string archive_ =
      testing::zip_archive({{"set/a", "a"}, {"set/noise", testing::noise(300'000)}});
};

TEST_F(DataCommand, GetsVerifiesAndUnpacks) {
  const LoopbackServer server(serve_files({{"/set.zip", archive_}}));
  const ProcessEnd end = run_bntt(get_arguments(archive_, server));
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_EQ(end.out, "set: 0.3 MB fetched, 2 files unpacked\n");
  EXPECT_THAT(names_in(target()), ElementsAre("set", "set/a", "set/noise"));
  const ProcessEnd again = run_bntt(get_arguments(archive_, server));
  EXPECT_EQ(again.out, "set: already there\n");
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(DataCommand, RefusesWhatTheServerDoesWrong) {
  {
    const LoopbackServer server(serve_files({}));
    expect_refusal(get_arguments(archive_, server),
                   server.url("/set.zip") + ": the server answered with status 404, expected 200",
                   {});
  }
  {
    const LoopbackServer server(serve_files({{"/set.zip", archive_}}));
    const std::string own =
        checksum_of(DigestKind::sha256,
                    {reinterpret_cast<const uint8_t*>(archive_.data()), archive_.size()})
            .hex;
    const std::string other(64, '0');
    expect_refusal(get_arguments(archive_, server, other),
                   server.url("/set.zip") + ": the downloaded file has the sha256 " + own +
                       ", expected " + other + ", and was removed",
                   {});
  }
  const LoopbackServer endless([](const HttpRequest&, const HttpReply& reply) {
    reply.send(http_head("200 OK", {}));
    const std::string piece(10'000, 'x');
    while (reply.send(piece)) {
    }
  });
  expect_refusal(get_arguments(archive_, endless),
                 endless.url("/set.zip") + ": the server sent more than the expected " +
                     std::to_string(archive_.size()) + " bytes",
                 {});
}

TEST_F(DataCommand, GoesOnAfterACutConnection) {
  const LoopbackServer cutting([this](const HttpRequest&, const HttpReply& reply) {
    reply.send(http_head("200 OK", {"Content-Length: " + std::to_string(archive_.size())}) +
               archive_.substr(0, 100'000));
  });
  expect_refusal(get_arguments(archive_, cutting),
                 cutting.url("/set.zip") +
                     ": the connection was lost after 100000 bytes (Transferred a partial file); "
                     "run the same command again to continue",
                 {"set.zip.part", "set.zip.part.json"});
  const LoopbackServer server(serve_files({{"/set.zip", archive_}}));
  const ProcessEnd end = run_bntt(get_arguments(archive_, server));
  EXPECT_EQ(end.out, "set: 0.3 MB fetched (0.1 MB of them earlier), 2 files unpacked\n");
  EXPECT_EQ(server.requests().at(0).header("range"), "bytes=100000-");
  EXPECT_THAT(names_in(target()), ElementsAre("set", "set/a", "set/noise"));
}

TEST_F(DataCommand, RefusesHostileArchives) {
  const std::string inside = ", expected only files and folders inside 'set'";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {testing::zip_archive({{"set/../../evil", "x"}}),
       "holds 'set/../../evil', a path that leaves its folder" + inside},
      {testing::zip_archive({{"/evil", "x"}}), "holds '/evil', an absolute path" + inside},
      {testing::zip_archive(
           {{"set/link", "/tmp", testing::EntryKind::symbolic_link}, {"set/link/evil", "x"}}),
       "holds 'set/link', a link" + inside},
      {testing::zip_archive({{"set/bomb", std::string(2'000'000, '\0')}}),
       "unpacks to more than the 1000000 bytes that are accepted"},
      {testing::zip_archive({{"set/1", ""}, {"set/2", ""}, {"set/3", ""}, {"set/4", ""}}),
       "holds more than the 3 entries that are accepted"},
  };
  for (const auto& [archive, sentence] : cases) {
    const LoopbackServer server(serve_files({{"/set.zip", archive}}));
    expect_refusal(get_arguments(archive, server), target() + "/set.zip: " + sentence, {"set.zip"});
    std::filesystem::remove(target() + "/set.zip");
    EXPECT_FALSE(std::filesystem::exists(path("evil")));
  }
}

TEST_F(DataCommand, InterruptedItKeepsThePartAndSaysHowToGoOn) {
  const LoopbackServer holding([this](const HttpRequest&, const HttpReply& reply) {
    reply.send(http_head("200 OK", {"Content-Length: " + std::to_string(archive_.size())}) +
               archive_.substr(0, 100'000));
    reply.hold();
  });
  Process process(get_arguments(archive_, holding));
  const std::string part = target() + "/set.zip.part";
  ASSERT_TRUE(wait_until(process, [&] {
    return std::filesystem::exists(part) && std::filesystem::file_size(part) == 100'000;
  }));
  process.send(SIGINT);
  const ProcessEnd end = process.wait();
  EXPECT_EQ(end.exit_code, 130);
  EXPECT_EQ(end.error, "");
  EXPECT_EQ(end.out, "stopped; run the same command again to continue\n");
  EXPECT_THAT(names_in(target()), ElementsAre("set.zip.part", "set.zip.part.json"));
  const LoopbackServer server(serve_files({{"/set.zip", archive_}}));
  EXPECT_EQ(run_bntt(get_arguments(archive_, server)).exit_code, 0);
  EXPECT_EQ(server.requests().at(0).header("range"), "bytes=100000-");
}

TEST_F(DataCommand, GetSaysWhatItKnowsAndWhatNeedsAForm) {
  ProcessEnd end = run_bntt({"data", "get", "cifar1", target()});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("no download source is known for 'cifar1'"));
  end = run_bntt({"data", "get", "dvs-gesture", target()});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("cannot be downloaded automatically: IBM"));
  EXPECT_FALSE(std::filesystem::exists(target()));
}

TEST_F(DataCommand, CheckListsFindingsAndEndsWithTwo) {
  const ProcessEnd end = run_bntt({"data", "check", "cifar100", directory_.path().string()});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(end.error, "");
  EXPECT_EQ(end.out,
            path("test.bin") + ": cannot be opened: No such file or directory\n" +
                path("train.bin") + ": cannot be opened: No such file or directory\n" +
                "cifar100: 2 problems: 0 training and 0 test samples in 0 files, 0.0 MB\n");
  const ProcessEnd json =
      run_bntt({"data", "check", "cifar100", directory_.path().string(), "--json"});
  EXPECT_EQ(json.exit_code, 2);
  const Json report = parse_json(json.out, "check");
  EXPECT_EQ(report.at("whole"), false);
  ASSERT_EQ(report.at("findings").size(), 2U);
  EXPECT_EQ(report.at("findings")[0].at("file"), path("test.bin"));
}

TEST_F(DataCommand, ShowDrawsAPngOrSaysWhyNot) {
  directory_.write("t10k-images-idx3-ubyte",
                   idx_file({3, 28, 28}, testing::Bytes(std::size_t{3} * 784, 128)));
  directory_.write("t10k-labels-idx1-ubyte", idx_file({3}, {1, 2, 3}));
  const std::string place = directory_.path().string();
  const std::string out = path("sheet.png");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--spikes", "--steps", "7"}, {"--count", "2"}}) {
    std::vector<std::string> arguments = {"data", "show", "mnist", place, "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 0) << end.error;
    EXPECT_EQ(end.out, out + (more.size() == 2 ? ": 2 samples\n" : ": 3 samples\n"));
    EXPECT_EQ(text_of(out).substr(0, 8), "\x89PNG\r\n\x1a\n");
    std::filesystem::remove(out);
  }
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(out));
    return end.error;
  };
  EXPECT_EQ(refused({"data", "show", "mnist", place, "--out", out, "--skip", "1"}),
            "bntt: mnist: " + place + " has no sample left after skipping 1 of each class\n");
  EXPECT_EQ(refused({"data", "show", "nmnist", place, "--out", out, "--spikes"}),
            "bntt: nmnist: --spikes encodes images, but event recordings are spikes already\n");
  EXPECT_EQ(refused({"data", "show", "mnist", place, "--out", out, "--steps", "5"}),
            "bntt: mnist: --steps needs --spikes or a data set of event recordings\n");
}

TEST_F(DataCommand, CheckAndShowTakeTheSensorOfOwnRecordings) {
  for (const char* name : {"left/1.bin", "left/2.bin", "right/1.bin", "right/2.bin"}) {
    directory_.write(name, testing::Bytes{60, 40, 0x80, 0, 9, 3, 4, 0, 0, 99});
  }
  const std::string place = directory_.path().string();
  const std::string out = path("sheet.png");
  const std::vector<std::string> sensor = {"--sensor-width", "64", "--sensor-height", "48"};
  const auto run = [&](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_bntt(arguments);
  };
  const std::vector<std::string> check = {"data", "check", "event-folder", place};
  const std::vector<std::string> show = {"data", "show", "event-folder", place, "--out", out};
  EXPECT_EQ(run(check, sensor).out,
            "event-folder: complete: 2 training and 2 test samples in 4 files, 0.0 MB\n");
  const ProcessEnd unknown = run(check, {});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.out, HasSubstr("event-folder: 4 problems"));
  EXPECT_THAT(unknown.out, HasSubstr("left/1.bin: does not say how large its sensor is"));
  EXPECT_THAT(unknown.out, HasSubstr("--sensor-width"));
  EXPECT_EQ(run(show, sensor).out, out + ": 2 samples\n");
  EXPECT_EQ(text_of(out).substr(0, 8), "\x89PNG\r\n\x1a\n");
  const ProcessEnd half = run(show, {"--sensor-width", "64"});
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_THAT(half.error, HasSubstr("a sensor of 64x0 pixels was given"));
}

TEST_F(DataCommand, CheckNamesTheFirstOfManyFilesWithOneProblem) {
  for (int i = 0; i < 9; ++i) {
    directory_.write(fmt::format("left/{}.bin", i), testing::Bytes{60, 40, 0x80, 0, 9});
    directory_.write(fmt::format("right/{}.bin", i), testing::Bytes{60, 40, 0x80, 0, 9});
  }
  directory_.write("right/9.bin", testing::Bytes{60, 40, 0x80});  // cut short
  const std::vector<std::string> check = {"data", "check", "event-folder",
                                          directory_.path().string()};
  const ProcessEnd end = run_bntt(check);
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(std::ranges::count(end.out, '\n'), 3 + 1 + 1 + 1) << end.out;
  EXPECT_THAT(end.out, HasSubstr("left/2.bin: does not say"));
  EXPECT_THAT(end.out, HasSubstr("right/9.bin: "));
  EXPECT_THAT(end.out, HasSubstr("\n15 more files have the same problem: does not say how large"));
  EXPECT_THAT(end.out, HasSubstr("event-folder: 19 problems"));
  const ProcessEnd json = run_bntt({check[0], check[1], check[2], check[3], "--json"});
  EXPECT_EQ(parse_json(json.out, "check").at("findings").size(), 19U) << "all of them";
}

TEST_F(DataCommand, EverySubcommandsHelpHasAnExample) {
  for (const std::string command : {"get", "check", "show"}) {
    const ProcessEnd end = run_bntt({"data", command, "--help"});
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_THAT(end.out, HasSubstr("Example:\n  bntt data " + command));
  }
}

}  // namespace
}  // namespace bntt
