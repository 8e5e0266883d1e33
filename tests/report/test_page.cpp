#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "browser.h"
#include "fixtures.h"
#include "report/page.h"
#include "sample_document.h"

namespace bntt {
namespace {

using testing::Browser;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kHostile;
using ::testing::Not;
using testing::sample_run;

/// The page in a real browser. Screenshots stay in the build directory.
class Page : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new testing::TemporaryDirectory;
    browser_ = new Browser(directory_->path());
  }
  static void TearDownTestSuite() {
    delete browser_;
    delete directory_;
  }

  void SetUp() override {
    browser_->set_size(1280, 900);
    browser_->set_dark(false);
    std::filesystem::create_directories(BNTT_SCREENSHOTS);
  }
  /// Whatever a test did, the console must have stayed silent.
  void TearDown() override { EXPECT_THAT(browser_->console(), IsEmpty()); }

  void show(const Json& document) {
    const std::filesystem::path file = directory_->path() / "report.html";
    std::ofstream(file) << report_page(document);
    browser_->open("file://" + file.string());
  }
  static Json run(const std::string& script) { return browser_->run(script); }
  static std::string text(const std::string& selector) {
    return run("return document.querySelector('" + selector + "')?.innerText ?? ''")
        .get<std::string>();
  }
  static void screenshot(const std::string& name) {
    browser_->screenshot(std::filesystem::path(BNTT_SCREENSHOTS) / (name + ".png"));
  }
  static void move_slider(int value) {
    run("const slider = document.getElementById('exit-threshold');"
        "slider.value = " +
        std::to_string(value) + "; slider.dispatchEvent(new Event('input'));");
  }

  static testing::TemporaryDirectory* directory_;
  static Browser* browser_;
};
testing::TemporaryDirectory* Page::directory_ = nullptr;
Browser* Page::browser_ = nullptr;

// Canvases on which every pixel is as transparent as before: nothing was drawn.
constexpr const char* kBlankCanvases = R"(
  return [...document.querySelectorAll('canvas')].filter((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return !data.some((value) => value !== 0);
  }).map((canvas) => canvas.getAttribute('aria-label'));)";

TEST_F(Page, EveryPanelIsDrawn) {
  show(report_document({sample_run("hand-made")}));
  EXPECT_EQ(run("return document.title"), "hand-made – bntt report");
  for (const char* id :
       {"accuracy",    "loss",       "density",         "gamma-training", "spikes",
        "spike-rate",  "gamma",      "gamma-histogram", "membrane",       "effective-threshold",
        "exit-slider", "exit-curve", "exit-rules",      "windows",        "energy",
        "noise",       "attack",     "inputs",          "confusions",     "matrix",
        "stages",      "settings"}) {
    EXPECT_EQ(run("return document.querySelectorAll('#panel-" + std::string(id) + "').length"), 1)
        << id;
  }
  EXPECT_GE(run("return document.querySelectorAll('canvas').length"), 12);
  EXPECT_EQ(run(kBlankCanvases), Json::array());
  // Every picture is whole.
  EXPECT_EQ(run("return [...document.images].filter((image) => !image.naturalWidth).length"), 0);
  EXPECT_THAT(text(".numbers"), HasSubstr("90.25 %"));
  EXPECT_THAT(text("#panel-energy"), HasSubstr("215 µJ"));
  screenshot("light");
}

TEST_F(Page, SliderShowsWhatItsThresholdCosts) {
  show(report_document({sample_run("hand-made")}));
  // Proposed is the third: two steps fewer, 0.4 points lost.
  EXPECT_THAT(text("#panel-exit-slider"),
              ::testing::AllOf(HasSubstr("89.70 %"), HasSubstr("−0.40 points"),
                               HasSubstr("10 of 12"), HasSubstr("3.50 µJ"), HasSubstr("0.500 ms")));
  const Json before =
      run("return Chart.getChart(document.querySelector('#panel-gamma "
          "canvas')).options.plugins.region.from");
  EXPECT_EQ(before, 10);
  move_slider(0);
  EXPECT_THAT(text("#panel-exit-slider"),
              ::testing::AllOf(HasSubstr("90.10 %"), HasSubstr("12 of 12"), HasSubstr("4.20 µJ")));
  move_slider(7);
  EXPECT_THAT(text("#panel-exit-slider"),
              ::testing::AllOf(HasSubstr("85.20 %"), HasSubstr("5 of 12")));
  EXPECT_EQ(run("return Chart.getChart(document.querySelector('#panel-gamma "
                "canvas')).options.plugins.region.from"),
            5);
}

TEST_F(Page, HistogramOfTheChosenLayerIsShown) {
  show(report_document({sample_run("hand-made")}));
  const std::string first_peak =
      "return Chart.getChart(document.querySelector('#panel-gamma-histogram "
      "canvas')).data.datasets[0].data.reduce("
      "(a, b) => (b.y > a.y ? b : a)).x";
  const double conv1 = run(first_peak).get<double>();
  run("const select = document.querySelector('#panel-gamma-histogram select');"
      "select.value = 'fc1'; select.dispatchEvent(new Event('change'));");
  EXPECT_LT(run(first_peak).get<double>(), conv1 - 0.3);
  EXPECT_EQ(run("return document.querySelector('#panel-gamma-histogram select').value"), "fc1");
}

TEST_F(Page, PhoneNeedsNoSidewaysScrolling) {
  browser_->set_size(360, 740);
  show(report_document({sample_run("hand-made"), sample_run(std::string(80, 'x'))}));
  EXPECT_LE(run("return document.documentElement.scrollWidth"), 360);
  EXPECT_EQ(run(kBlankCanvases), Json::array());
  screenshot("phone");
}

TEST_F(Page, DarkFollowsTheSystemAndTheButton) {
  browser_->set_dark(true);
  show(report_document({sample_run("hand-made")}));
  const std::string ground = "return getComputedStyle(document.body).backgroundColor";
  EXPECT_EQ(run(ground), "rgb(17, 20, 26)");
  EXPECT_EQ(run(kBlankCanvases), Json::array());
  screenshot("dark");
  run("document.getElementById('theme').click()");
  EXPECT_EQ(run(ground), "rgb(245, 246, 248)");
  EXPECT_EQ(run(kBlankCanvases), Json::array());
}

TEST_F(Page, RunsStandSideBySide) {
  Json weak = sample_run("weak");
  weak["learning"]["test"]["accuracy"] = 12.5;
  show(report_document({sample_run("strong"), weak}));
  EXPECT_THAT(text("#panel-compare-numbers"),
              ::testing::AllOf(HasSubstr("strong"), HasSubstr("weak"), HasSubstr("12.50 %")));
  EXPECT_EQ(run("return Chart.getChart(document.querySelector('#panel-compare-learning "
                "canvas')).data.datasets.length"),
            2);
  EXPECT_EQ(text("h1"), "strong");
  run("document.querySelectorAll('#picker button')[1].click()");
  EXPECT_EQ(text("h1"), "weak");
  EXPECT_EQ(run(kBlankCanvases), Json::array());
  screenshot("two-runs");
}

TEST_F(Page, WhatWasNotMeasuredIsSaid) {
  Json run_alone = sample_run("bare");
  for (const char* key : {"activity", "exit", "energy", "robustness", "pictures"}) {
    run_alone.erase(key);
  }
  run_alone["missing"] = "shapes: the files are not there";
  show(report_document({run_alone}));
  EXPECT_THAT(text("main"), HasSubstr("shapes: the files are not there"));
  EXPECT_THAT(text("main"), HasSubstr("Not measured"));
  EXPECT_EQ(run("return document.querySelectorAll('#panel-gamma canvas').length"), 1);
  screenshot("bare");
}

TEST_F(Page, RunWithoutCheckpointIsShown) {
  show(report_document({Json{
      {"name", "young"},
      {"settings", {{"train", {{"epochs", 4}}}}},
      {"learning", {{"steps", Json::array()}, {"epochs", Json::array()}, {"finished", false}}},
      {"network", {{"steps", 8}, {"stages", Json::array()}}},
      {"gamma", Json::array()}}}));
  EXPECT_EQ(text("h1"), "young");
}

TEST_F(Page, HostileTextStaysText) {
  const Json hostile = testing::with_all_strings(sample_run("run"), kHostile);
  show(report_document({hostile, hostile}));
  EXPECT_EQ(run("return window.injected ?? null"), nullptr);
  EXPECT_EQ(text("h1"), kHostile);
  EXPECT_EQ(run("return document.querySelectorAll('svg, script').length"), 2);  // data and program
  EXPECT_EQ(run("return [...document.images].filter((i) => !i.src.startsWith('data:')).length"), 0);
}

TEST_F(Page, ValuesOfTheWrongKindBreakNothing) {
  Json run_document = sample_run("odd");
  run_document["learning"]["steps"][3] = {
      {"step", nullptr}, {"loss", nullptr}, {"accuracy", nullptr}, {"density", Json::array()}};
  run_document["energy"]["measured_ratio"] = nullptr;
  run_document["exit"].erase("proposed");
  run_document["gamma"][0]["mean"][2] = nullptr;
  show(report_document({run_document}));
  EXPECT_EQ(run(kBlankCanvases), Json::array());
}

TEST_F(Page, OnlyItsOwnScriptMayRun) {
  show(report_document({sample_run("hand-made")}));
  run("const script = document.createElement('script'); script.textContent = 'window.injected = 1';"
      "document.body.append(script);");
  EXPECT_EQ(run("return window.injected ?? null"), nullptr);
  // The browser told of its refusal: that is the point here.
  EXPECT_THAT(browser_->console(), ElementsAre(HasSubstr("Content Security Policy")));
}

TEST(PageText, HoldsNoAddressOfTheNetwork) {
  const std::string page = report_page(report_document({sample_run("run")}));
  for (const char* loaded : {"src=\"http", "href=\"http", "@import", "url(http"}) {
    EXPECT_THAT(page, Not(HasSubstr(loaded)));
  }
}

TEST(PageText, BytesThatAreNoTextAreReplaced) {
  Json document = report_document({sample_run("a\xff")});
  EXPECT_THAT(report_page(document), HasSubstr("\"name\":\"a\xef\xbf\xbd\""));
}

}  // namespace
}  // namespace bntt
