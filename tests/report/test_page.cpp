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
  for (const char* id : {"accuracy",        "loss",
                         "density",         "gamma-training",
                         "spikes",          "spike-rate",
                         "gamma",           "gamma-histogram",
                         "membrane",        "effective-threshold",
                         "exit-slider",     "exit-curve",
                         "exit-rules",      "windows",
                         "energy",          "noise",
                         "attack",          "inputs",
                         "confusions",      "matrix",
                         "stages",          "settings",
                         "learned-windows", "accuracy-over-minutes"}) {
    EXPECT_EQ(run("return document.querySelectorAll('#panel-" + std::string(id) + "').length"), 1)
        << id;
  }
  EXPECT_GE(run("return document.querySelectorAll('canvas').length"), 12);
  EXPECT_EQ(run(kBlankCanvases), Json::array());
  // Every picture is whole.
  EXPECT_EQ(run("return [...document.images].filter((image) => !image.naturalWidth).length"), 0);
  EXPECT_THAT(text(".numbers"), HasSubstr("90.25 %"));
  EXPECT_THAT(text("#panel-energy"), HasSubstr("215 µJ"));
  EXPECT_THAT(text("#panel-learned-windows"), HasSubstr("58.3 % of the synapse work is left"));
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

TEST_F(Page, ProposalSaysHowCertainItIs) {
  Json document = sample_run("hand-made");
  show(report_document({document}));
  EXPECT_THAT(text("#panel-exit-slider"),
              ::testing::AllOf(HasSubstr("On 400 validation images it costs 0.40 points"),
                               HasSubstr("with 95 % confidence it costs at most 0.65")));
  EXPECT_THAT(text(".numbers"), HasSubstr("costs at most 0.65 points with 95 % confidence"));
  EXPECT_THAT(text("#panel-exit-rules"), HasSubstr("loss at most"));

  document["exit"].erase("proposed");
  document["exit"]["max_loss"] = 0.3;
  document["exit"]["validation_images_needed"] = 1234;
  show(report_document({document}));
  EXPECT_THAT(
      text("#panel-exit-slider"),
      ::testing::AllOf(HasSubstr("Nothing is proposed"), HasSubstr("may cost up to 0.35 points"),
                       HasSubstr("at least 1,234 validation images")));
  document["exit"]["validation_images"] = 0;
  show(report_document({document}));
  EXPECT_THAT(text("#panel-exit-slider"), HasSubstr("kept no validation images"));
}

TEST_F(Page, EnergyIsLessOrAsMuch) {
  Json document = sample_run("hand-made");
  show(report_document({document}));
  EXPECT_THAT(text(".numbers"), HasSubstr("21.5 × less"));
  document["energy"]["measured_ratio"] = 0.8;
  show(report_document({document}));
  EXPECT_THAT(text(".numbers"), HasSubstr("1.25 × as much"));
  EXPECT_THAT(text("#panel-energy"), HasSubstr("1.25 × as much"));
}

TEST_F(Page, NumbersSayOnHowManyImages) {
  show(report_document({sample_run("hand-made"), sample_run("other")}));
  const std::vector<std::pair<std::string, std::string>> measured = {
      {"spikes", "500"},
      {"spike-rate", "500"},
      {"membrane", "64"},
      {"exit-slider", "500"},
      {"exit-rules", "400"},
      {"energy", "500"},
      {"noise", "200"},
      {"attack", "200"},
      {"matrix", "300"},
      {"confusions", "300"},
      {"effective-threshold", "64"},
      {"accuracy", "400"},
      {"compare-exit", "500"},
      {"compare-noise", "200"},
      {"accuracy-over-minutes", "400"},
      {"compare-minutes", "400"},
      {"compare-learning", "400"}};
  for (const auto& [panel, count] : measured) {
    EXPECT_THAT(text("#panel-" + panel + " .measured"), HasSubstr(count)) << panel;
  }
  EXPECT_THAT(text("[data-slot=run] > .measured"), HasSubstr("the first 500 test images"));
  // The accuracy beside that of leaving early is of the same images; that of the training's end is
  // told, too.
  EXPECT_THAT(text(".numbers"), ::testing::AllOf(HasSubstr("90.00 %"), HasSubstr("500 images"),
                                                 HasSubstr("90.25 % on 1,000 at the end")));
}

TEST_F(Page, ContentsLeadToEverySection) {
  show(report_document({sample_run("hand-made"), sample_run("other")}));
  EXPECT_EQ(run("return [...document.querySelectorAll('#contents a')].map((a) => a.innerText)"),
            run("return [...document.querySelectorAll('main h2')].map((h) => h.innerText)"));
  run("[...document.querySelectorAll('#contents a')].find((a) => a.innerText === "
      "'Energy').click()");
  const double top = run("return document.querySelector('#section-energy h2')"
                         ".getBoundingClientRect().top")
                         .get<double>();
  const double header = run("return document.getElementById('top').offsetHeight").get<double>();
  EXPECT_GE(top, header) << "hidden behind the header";
  EXPECT_LT(top, header + 100);
}

// Pairs of labels of one axis that touch.
constexpr const char* kCollidingTicks = R"(
  const found = [];
  for (const canvas of document.querySelectorAll('canvas')) {
    for (const scale of Object.values(Chart.getChart(canvas).scales)) {
      const context = canvas.getContext('2d');
      const { size, family } = scale.options.ticks.font;
      context.font = `${size}px ${family ?? Chart.defaults.font.family}`;
      const boxes = scale.ticks.map((tick, i) => {
        const half = scale.isHorizontal() ? context.measureText(tick.label).width / 2 : 5;
        return { label: String(tick.label), at: scale.getPixelForTick(i), half };
      }).filter((box) => box.label !== '').sort((a, b) => a.at - b.at);
      boxes.forEach((box, i) => {
        const next = boxes[i + 1];
        if (next && next.at - next.half < box.at + box.half + 1) {
          found.push(`${canvas.getAttribute('aria-label')}: ${box.label} ${next.label}`);
        }
      });
    }
  }
  return found;)";

TEST_F(Page, TicksDoNotTouch) {
  for (const int width : {1280, 820, 360}) {
    browser_->set_size(width, 900);
    Json document = sample_run("hand-made");
    for (const int steps : {2001, 1990, 1111}) {
      document["learning"]["steps"].back()["step"] = steps;
      document["learning"]["epochs"].back()["step"] = steps;
      show(report_document({document, sample_run("other")}));
      EXPECT_EQ(run(kCollidingTicks), Json::array()) << width << " pixels, " << steps << " steps";
    }
  }
}

TEST_F(Page, AxesShowTheData) {
  show(report_document({sample_run("hand-made")}));
  const auto of_chart = [](const std::string& panel, const std::string& what) {
    return run("const chart = Chart.getChart(document.querySelector('#panel-" + panel +
               " canvas')); return " + what);
  };
  EXPECT_GT(of_chart("noise", "chart.scales.y.min"), 60.0) << "accuracies are 70 to 90";
  EXPECT_GT(of_chart("exit-curve", "chart.scales.y.min"), 80.0) << "accuracies are 85 to 90";
  EXPECT_GE(of_chart("spike-rate", "chart.scales.y.ticks.filter((t) => t.label !== '').length"), 3);
  EXPECT_EQ(of_chart("spike-rate", "chart.config.options.plugins.barValues.text(0.4)"), "0.40");
  EXPECT_EQ(of_chart("membrane", "chart.data.datasets[0].stepped"), true);
  // 40 bins have 41 edges, from end to end.
  EXPECT_EQ(of_chart("membrane", "chart.data.datasets[0].data.length"), 41);
  EXPECT_EQ(of_chart("membrane", "chart.data.datasets[0].data[0].x"), -2.0);
  EXPECT_EQ(of_chart("gamma-histogram", "chart.data.datasets[0].stepped"), true);
}

TEST_F(Page, ExitStepHoldsOverItsWholeInterval) {
  Json document = sample_run("hand-made");
  document["exit"]["sweep"] = {
      {{"exit_step", 12}, {"threshold", 0.0}, {"threshold_up_to", 0.31}, {"accuracy", 90.0}},
      {{"exit_step", 7}, {"threshold", 0.4}, {"threshold_above", 0.31}, {"accuracy", 80.0}}};
  document["exit"].erase("proposed");
  show(report_document({document}));
  EXPECT_EQ(run("return Chart.getChart(document.querySelector('#panel-exit-curve canvas'))"
                ".data.datasets[1].data.map((point) => [point.x, point.y])"),
            Json::parse("[[0,12],[0,12],[0.31,12],[0.31,7],[0.4,7],[0.4,7]]"));
}

TEST_F(Page, ConfusionColumnsAreEven) {
  Json document = sample_run("hand-made");
  document["pictures"]["classes"] = {"ball", "a wheel with a long name", "x"};
  show(report_document({document}));
  const auto widths = run("return [...document.querySelector('#panel-matrix tbody tr')"
                          ".querySelectorAll('td')].map((cell) => cell.offsetWidth)")
                          .get<std::vector<double>>();
  ASSERT_EQ(widths.size(), 3U);
  EXPECT_NEAR(widths[0], widths[1], 1.0);
  EXPECT_NEAR(widths[0], widths[2], 1.0);
}

TEST_F(Page, WideTablesShowThatThereIsMore) {
  browser_->set_size(360, 740);
  show(report_document({sample_run("hand-made")}));
  const std::string frame =
      "const frame = document.querySelector('#panel-energy .scroll-frame');"
      "const inner = frame.querySelector('.scroll');";
  const auto sides = [&] {
    return run(frame + "return [...frame.classList].filter((name) => name.startsWith('more'))");
  };
  EXPECT_TRUE(browser_->wait_for(frame + "return frame.classList.contains('more-right')"));
  EXPECT_EQ(sides(), Json::parse("[\"more-right\"]"));
  EXPECT_EQ(run(frame + "return getComputedStyle(frame, '::after').opacity"), "1");
  run(frame + "inner.scrollLeft = inner.scrollWidth");
  EXPECT_TRUE(browser_->wait_for(frame + "return frame.classList.contains('more-left')"));
  EXPECT_EQ(sides(), Json::parse("[\"more-left\"]"));
  browser_->set_size(1280, 900);
  EXPECT_TRUE(browser_->wait_for(frame + "return !frame.classList.contains('more-left')"));
  EXPECT_EQ(sides(), Json::array());
}

// Texts whose contrast with what lies behind them is below WCAG's AA, 4.5 to 1.
constexpr const char* kFaintTexts = R"(
  const parse = (text) => text.match(/[\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], ground) => [r, g, b].map((v, i) => a * v + (1 - a) * ground[i]);
  const ground = (element) => {
    if (!element) return [255, 255, 255];
    const colour = parse(getComputedStyle(element).backgroundColor);
    return (colour[3] ?? 1) === 1 ? colour : over(colour, ground(element.parentElement));
  };
  const light = (colour) => colour.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const faint = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.offsetParent === null || element.tagName === 'SCRIPT') continue;
    const behind = ground(element);
    const [a, b] = [light(over(parse(getComputedStyle(element).color), behind)), light(behind)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.add(`${element.className || element.tagName} ${contrast.toFixed(2)}`);
  }
  // Text that is drawn.
  for (const canvas of document.querySelectorAll('canvas')) {
    for (const scale of Object.values(Chart.getChart(canvas).scales)) {
      const hex = scale.options.ticks.color;
      const colour = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
      const [a, b] = [light(colour), light(ground(canvas))];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) faint.add(`ticks ${contrast.toFixed(2)}`);
    }
  }
  return [...faint];)";

TEST_F(Page, TextIsReadable) {
  for (const bool dark : {false, true}) {
    browser_->set_dark(dark);
    show(report_document({sample_run("hand-made"), sample_run("other")}));
    EXPECT_EQ(run(kFaintTexts), Json::array()) << (dark ? "dark" : "light");
  }
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
  const std::string first_row =
      "return [...document.querySelector('#panel-compare-numbers tbody tr').children]"
      ".map((cell) => cell.innerText.trim())";
  EXPECT_EQ(run(first_row), Json::parse(R"(["settings that differ", "none", "none"])"));
  weak["settings"]["model"]["norm"] = "bn";
  weak["settings"]["run"]["log_steps"] = 7;  // says nothing about what was trained
  show(report_document({sample_run("strong"), weak}));
  EXPECT_EQ(run(first_row),
            Json::parse(R"(["settings that differ", "model.norm bntt", "model.norm bn"])"));
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
  // The browser reports the refusal, as intended.
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
