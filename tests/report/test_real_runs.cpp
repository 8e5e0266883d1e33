#include <httplib.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <regex>

#include "base/json.h"
#include "browser.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using testing::Browser;
using testing::bytes_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Process;
using testing::ProcessEnd;
using testing::run_bntt;

/// The program's own pages of tiny trained runs.
class RealRuns : public testing::TinyRuns {
 protected:
  /// The document inside a page.
  Json document(const std::filesystem::path& page) const {
    const std::string html = bytes_of(page);
    const std::string before = "id=\"document\">";
    const std::size_t begin = html.find(before) + before.size();
    return parse_json(html.substr(begin, html.find("</script>", begin) - begin), "page");
  }
  std::string report(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"report", "--data", data().string(), "--limit", "12"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return succeed(all);
  }
};

TEST_F(RealRuns, ReportHoldsEveryAnalysis) {
  train("run");
  EXPECT_THAT(report({path("run")}), HasSubstr("report: " + path("run") + "/report.html"));
  const Json run = document(root() / "run" / "report.html").at("runs").at(0);
  for (const char* key : {"settings", "learning", "network", "gamma", "activity", "exit", "energy",
                          "robustness", "pictures"}) {
    EXPECT_TRUE(run.contains(key)) << key;
  }
  EXPECT_EQ(run.at("activity").at("images"), 12);
  EXPECT_EQ(run.at("learning").at("test").at("images"), kTestImages);
  EXPECT_EQ(run.at("pictures").at("samples").size(), 6U);
  EXPECT_FALSE(run.at("settings").at("data").contains("dir"));

  report({path("run"), "--no-attack", "--out", path("short.html")});
  EXPECT_FALSE(document(path("short.html")).at("runs").at(0).contains("robustness"));
}

TEST_F(RealRuns, RecordingsAreReportedBesideImages) {
  train("run", {"--epochs", "1"});
  write_recordings();
  train_on_recordings("recordings");
  succeed({"report", path("run"), path("recordings"), "--limit", "12", "--out",
           path("new/folder/both.html")});
  const Json runs = document(path("new/folder/both.html")).at("runs");
  EXPECT_EQ(runs[0].at("robustness").at("curves").size(), 3U);
  EXPECT_EQ(runs[1].at("robustness").at("curves").size(), 1U);
  Browser browser(root());
  browser.open("file://" + path("new/folder/both.html"));
  browser.run("document.querySelectorAll('#picker button')[1].click()");
  const auto text = [&](const std::string& id) {
    return browser.run("return document.getElementById('panel-" + id + "').innerText")
        .get<std::string>();
  };
  EXPECT_THAT(text("event-noise"), HasSubstr("12 test recordings"));
  EXPECT_THAT(text("attack"), HasSubstr("Not defined for event recordings"));
  EXPECT_EQ(browser.run("return document.querySelectorAll('#panel-attack canvas').length"), 0);
  EXPECT_THAT(browser.console(), IsEmpty());
}

TEST_F(RealRuns, ClassicalRunsAreReportedBesideNetworks) {
  write_recordings();
  train_on_recordings("network");
  for (const std::string method : {"hats", "hots", "hfirst", "gabor-snn"}) {
    succeed({"classical", method, "--data", path("events"), "--out", path(method)});
  }
  EXPECT_THAT(succeed({"report", path("hats")}), HasSubstr("HATS: "));
  EXPECT_TRUE(std::filesystem::exists(root() / "hats" / "report.html"));
  succeed({"report", path("network"), path("hats"), path("hots"), path("hfirst"), path("gabor-snn"),
           "--limit", "12", "--no-attack", "--out", path("all.html")});
  const Json runs = document(path("all.html")).at("runs");
  EXPECT_FALSE(runs[1].at("settings").at("data").contains("dir"));
  std::filesystem::create_directories(BNTT_SCREENSHOTS);
  Browser browser(root());
  browser.open("file://" + path("all.html"));
  const auto text = [&](const std::string& selector) {
    return browser.run("return document.querySelector('" + selector + "')?.innerText ?? ''")
        .get<std::string>();
  };
  EXPECT_THAT(text("#panel-compare-numbers"),
              ::testing::AllOf(HasSubstr("gabor-snn"), HasSubstr("2,450"), HasSubstr("network")));
  for (int run = 1; run <= 4; ++run) {
    browser.run("document.querySelectorAll('#picker button')[" + std::to_string(run) + "].click()");
    for (const char* id : {"classical-scores", "classical-features", "classical-matrix",
                           "classical-times", "settings"}) {
      EXPECT_EQ(
          browser.run("return document.querySelectorAll('#panel-" + std::string(id) + "').length"),
          1)
          << id << " of run " << run;
    }
    EXPECT_EQ(browser.run("return document.querySelectorAll('#panel-gamma, #panel-stages, "
                          "#panel-energy').length"),
              0);
    EXPECT_GE(browser.run("return document.querySelectorAll('#panel-classical-features img')"
                          ".length"),
              10);
    EXPECT_EQ(browser.run("return [...document.images].filter((i) => !i.naturalWidth).length"), 0);
    EXPECT_THAT(text("#panel-classical-scores"), HasSubstr("published"));
    browser.screenshot(std::filesystem::path(BNTT_SCREENSHOTS) /
                       ("classical-" + std::to_string(run) + ".png"));
  }
  browser.run("document.querySelectorAll('#picker button')[3].click()");
  EXPECT_THAT(text("#panel-classical-scores"), HasSubstr("31.0 %"));
  EXPECT_THAT(browser.console(), IsEmpty());
}

TEST_F(RealRuns, AnExplanationShowsWhatFiredWhen) {
  write_recordings();
  train_on_recordings("run");
  const std::string sample = path("events/Test/3/0.bin");
  const Json answer = parse_json(
      succeed({"predict", path("run"), sample, "--json", "--explain", path("why.html")}), "answer");
  const Json told = document(path("why.html")).at("explanation");
  int64_t spikes = 0;
  for (const Json& stage : told.at("stages")) {
    for (const Json& of_step : stage.at("spikes_per_step")) spikes += of_step.get<int64_t>();
  }
  EXPECT_EQ(spikes, answer.at("spikes"));
  EXPECT_EQ(told.at("answers").at(0).at("name"), answer.at("class"));
  EXPECT_EQ(told.at("answers").at(0).at("probabilities").back(),
            answer.at("top").at(0).at("probability"));

  Browser browser(root());
  browser.open("file://" + path("why.html"));
  EXPECT_EQ(browser.run("return document.querySelector('h1').innerText"), "0.bin");
  EXPECT_EQ(browser.run("return document.querySelectorAll('canvas').length"), 2);
  EXPECT_EQ(
      browser.run("return [...document.images].filter((image) => !image.naturalWidth).length"), 0);
  EXPECT_THAT(browser.run("return document.getElementById('panel-firing-where').innerText")
                  .get<std::string>(),
              HasSubstr("conv1: "));
  browser.screenshot(std::filesystem::path(BNTT_SCREENSHOTS) / "explanation.png");
  EXPECT_THAT(browser.console(), IsEmpty());
}

TEST_F(RealRuns, OutputIsPreparedBeforeTheWork) {
  train("run", {"--epochs", "1"});
  write_text("file", "");
  for (const std::string& out : {path("file/page.html"), path("data")}) {
    const ProcessEnd end = run_bntt({"report", path("run"), "--out", out});
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_THAT(end.error, HasSubstr(out));
    EXPECT_THAT(end.error, ::testing::Not(HasSubstr("activity"))) << "it has begun to measure";
  }
  succeed({"plot", path("run"), "--figure", "gamma", "--out", path("a/b/gamma.svg")});
  EXPECT_TRUE(std::filesystem::exists(path("a/b/gamma.svg")));
}

TEST_F(RealRuns, WithoutDataTheRunItselfIsShown) {
  train("run", {"--epochs", "1"});
  std::filesystem::remove_all(data());
  EXPECT_THAT(succeed({"report", path("run")}), HasSubstr("without the analyses that need images"));
  const Json run = document(root() / "run" / "report.html").at("runs").at(0);
  EXPECT_FALSE(run.contains("activity"));
  EXPECT_EQ(run.at("gamma").size(), 4U);

  const ProcessEnd named = run_bntt({"report", path("run"), "--data", path("nowhere")});
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_THAT(named.error, HasSubstr("nowhere"));
}

TEST_F(RealRuns, HostileRunsInjectNothing) {
  const std::string name = "<img src=x onerror=window.injected=1>";
  train(name);
  std::ofstream(root() / name / "metrics.jsonl", std::ios::app)
      << R"({"kind":"step","step":"</script><script>window.injected=1</script>","density":[{}]})"
      << "\n"
      << R"({"kind":"epoch","epoch":3,"gamma":{"</script><b>":["<b>",1e99]}})"
      << "\n";
  train("other", {"--epochs", "1"});
  report({path(name), path("other"), "--no-attack", "--out", path("page.html")});
  Browser browser(root());
  browser.open("file://" + path("page.html"));
  EXPECT_EQ(browser.run("return document.querySelector('h1').innerText"), name);
  EXPECT_EQ(browser.run("return window.injected ?? null"), nullptr);
  EXPECT_THAT(browser.console(), IsEmpty());
}

TEST_F(RealRuns, LivePageFollowsTheRun) {
  train("run");
  const std::filesystem::path metrics = root() / "run" / "metrics.jsonl";
  // As if training had not ended.
  std::string lines = bytes_of(metrics);
  std::ofstream(metrics) << lines.substr(0, lines.find("{\"kind\":\"epoch\",\"epoch\":3"));
  const std::string out = path("out.txt");
  std::ofstream(out).close();
  Process program({"report", path("run"), "--follow", "--no-attack", "--limit", "12"},
                  {.output = out});
  std::smatch address;
  std::string told;
  ASSERT_TRUE(testing::wait_until(program, [&] {
    told = bytes_of(out);
    return std::regex_search(told, address, std::regex("http://127\\.0\\.0\\.1:[0-9]+/"));
  }));
  Browser browser(root());
  browser.open(address[0]);
  const std::string steps =
      "Chart.getChart(document.querySelector('#panel-accuracy canvas')).data.datasets[0].data";
  EXPECT_TRUE(
      browser.wait_for("return document.getElementById('status').innerText.includes('epoch')"));

  std::ofstream(metrics, std::ios::app)
      << R"({"kind":"step","step":777,"epoch":3,"loss":1.0,"accuracy":50.0,"density":[]})"
      << "\n"
      << R"({"kind":"step","step":99)";  // still being written
  EXPECT_TRUE(
      browser.wait_for("const points = " + steps + "; return points[points.length - 1].x === 777"));
  EXPECT_EQ(browser.run("return document.querySelectorAll('#panel-gamma canvas').length"), 1);
  EXPECT_EQ(browser.run("return document.querySelectorAll('#panel-energy table').length"), 0);

  std::ofstream(metrics) << lines;
  EXPECT_TRUE(
      browser.wait_for("return document.querySelectorAll('#panel-energy table').length === 1"));
  EXPECT_THAT(browser.console(), IsEmpty());

  program.send(SIGINT);
  const ProcessEnd end = program.wait();
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_EQ(end.error, "");
  EXPECT_TRUE(
      browser.wait_for("return document.getElementById('status').innerText.includes('ended')"));
}

TEST_F(RealRuns, LivePageFollowsARecording) {
  write_recordings();
  train_on_recordings("run");
  // Four seconds, so that there is time to look before it ends: an event every 40 ms.
  std::string bytes;
  for (int k = 0; k <= 100; ++k) {
    const int time_us = 40'000 * k;
    for (const int byte : {9 + k % 4, k % 34, time_us >> 16, time_us >> 8, time_us}) {
      bytes.push_back(static_cast<char>(byte));
    }
  }
  write_text("slow.bin", bytes);
  const std::string out = path("out.txt");
  std::ofstream(out).close();
  Process program({"predict", path("run"), "--events", path("slow.bin"), "--live", "--port", "0"},
                  {.output = out});
  std::smatch address;
  std::string told;
  ASSERT_TRUE(testing::wait_until(program, [&] {
    told = bytes_of(out);
    return std::regex_search(told, address, std::regex("http://127\\.0\\.0\\.1:[0-9]+"));
  }));

  // What the page polls, while the recording is replayed.
  httplib::Client client(address[0]);
  std::vector<int64_t> steps_seen;
  std::string version;
  Json shown;
  const std::regex underway("step ([123]) of 4");
  ASSERT_TRUE(testing::wait_until(program, [&] {
    const httplib::Result answer = client.Get("/document.json?since=" + version);
    if (!answer || answer->status != 200) return false;
    const Json next = parse_json(answer->body, "document");
    version = next.at("version");
    shown = next.at("explanation");
    std::smatch step;
    const std::string status = shown.at("status");
    if (std::regex_match(status, step, underway)) {
      steps_seen.push_back(std::stoll(step[1]));
      EXPECT_EQ(shown.at("answers").at(0).at("probabilities").size(),
                static_cast<std::size_t>(steps_seen.back()));
    }
    return status.starts_with("slow.bin: ");
  }));
  EXPECT_THAT(steps_seen, ::testing::Not(IsEmpty()));
  EXPECT_TRUE(std::ranges::is_sorted(steps_seen));
  EXPECT_EQ(shown.at("answers").at(0).at("probabilities").size(), 4U);
  const std::string end_line = shown.at("status");
  EXPECT_THAT(end_line, HasSubstr("after 4 of 4 steps"));
  EXPECT_THAT(bytes_of(out), HasSubstr(end_line + "\n"));

  Browser browser(root());
  browser.open(address[0]);
  const std::string status = "document.getElementById('status').innerText";
  EXPECT_TRUE(browser.wait_for("return " + status + ".includes('after 4 of 4 steps')"));
  EXPECT_EQ(browser.run("return document.querySelector('h1').innerText"), "slow.bin");
  EXPECT_EQ(browser.run("return Chart.getChart(document.querySelector('#panel-answers canvas'))"
                        ".data.datasets[0].data.length"),
            4);
  EXPECT_EQ(
      browser.run("return [...document.images].filter((image) => !image.naturalWidth).length"), 0);
  browser.screenshot(std::filesystem::path(BNTT_SCREENSHOTS) / "live.png");
  EXPECT_THAT(browser.console(), IsEmpty());

  program.send(SIGINT);
  const ProcessEnd end = program.wait();
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_EQ(end.error, "");
  EXPECT_TRUE(browser.wait_for("return " + status + ".includes('ended')"));
}

TEST_F(RealRuns, RefusalsAreOneSentence) {
  train("run", {"--epochs", "1"});
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"report", path("nothing")}, "holds no run"},
      {{"report", path("run"), path("run"), "--follow"}, "--follow"},
      {{"plot", path("run"), "--figure", "gama", "--out", path("a.svg")}, "did you mean 'gamma'"},
      {{"plot", path("run"), "--figure", "gamma", "--out", path("a.pdf")}, ".svg or .png"},
      {{"plot", path("run"), "--figure", "gamma-histogram", "--layer", "conv9", "--out",
        path("a.svg")},
       "conv9"},
  };
  for (const auto& [arguments, expected] : cases) {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_THAT(end.error, HasSubstr(expected));
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
  }
}

TEST_F(RealRuns, EveryFigureIsDrawn) {
  train("run");
  const std::string listed = succeed({"plot", "--figure", "list"});
  std::istringstream lines(listed);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find(' '));
    succeed({"plot", path("run"), "--figure", name, "--out", path(name + ".svg"), "--data",
             data().string(), "--limit", "12"});
    EXPECT_THAT(bytes_of(path(name + ".svg")), HasSubstr("</svg>")) << name;
  }
  EXPECT_THAT(listed, HasSubstr("gamma-histogram"));
  write_recordings();
  train_on_recordings("recordings");
  succeed({"plot", path("recordings"), "--figure", "noise", "--out", path("events.svg"), "--limit",
           "12"});
  EXPECT_THAT(bytes_of(path("events.svg")), HasSubstr("share of events"));
  const ProcessEnd none = run_bntt({"plot", path("recordings"), "--figure", "attack", "--out",
                                    path("none.svg"), "--limit", "12"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.error, HasSubstr("has no gradient attacks"));
  succeed({"plot", path("run"), "--figure", "gamma", "--out", path("gamma.png")});
  EXPECT_EQ(bytes_of(path("gamma.png")).substr(1, 3), "PNG");
}

}  // namespace
}  // namespace bntt
