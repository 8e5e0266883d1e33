#include "bntt/session.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "guard.h"
#include "model.h"

struct bntt_session {
  bntt::Model model;
  bntt::Session session;
  int64_t batch = 0;
  uint32_t first_sample = 0;
  int threads = 0;
  std::optional<bntt::Batch> shown;  ///< images, if the session has any
};

using bntt::c::expect_given;
using bntt::c::guarded;
using bntt::c::ThreadsOfCall;

extern "C" {

int bntt_session_create(const bntt_model* model, int64_t batch, const bntt_options* options,
                        bntt_session** session) {
  return guarded([&] {
    expect_given(model, "bntt_model");
    expect_given(session, "session");
    const bntt_options known = bntt::c::known_options(options);
    const ThreadsOfCall threads(known.threads);  // throws for an invalid number
    *session = new bntt_session{model->model,  bntt::Session(model->model, batch),
                                batch,         known.first_sample,
                                known.threads, std::nullopt};
    return BNTT_OK;
  });
}

void bntt_session_free(bntt_session* session) { delete session; }

int bntt_session_restart(bntt_session* session) {
  return guarded([&] {
    expect_given(session, "bntt_session");
    session->session.restart();
    return BNTT_OK;
  });
}

int bntt_session_show(bntt_session* session, const uint8_t* pixels, int64_t height, int64_t width,
                      int64_t channels) {
  return guarded([&] {
    expect_given(session, "bntt_session");
    session->shown = session->model.prepare(
        bntt::c::images_at(pixels, session->batch, height, width, channels), session->first_sample);
    session->session.restart();
    return BNTT_OK;
  });
}

int bntt_session_advance(bntt_session* session, int64_t steps) {
  return guarded([&] {
    expect_given(session, "bntt_session");
    if (!session->shown)
      throw bntt::Error("bntt_session_advance: no images to advance, call bntt_session_show first");
    if (steps < 1) throw bntt::Error("bntt_session_advance: expected at least 1 step");
    const ThreadsOfCall threads(session->threads);
    bntt::Session& running = session->session;
    running.advance(session->model.encode(*session->shown, running.steps_done(), steps));
    return BNTT_OK;
  });
}

int bntt_session_advance_events(bntt_session* session, const uint8_t* counts) {
  return guarded([&] {
    expect_given(session, "bntt_session");
    const ThreadsOfCall threads(session->threads);
    const bntt::Batch frame =
        bntt::c::counts_at(session->model, counts, session->batch, 1, session->first_sample);
    session->session.advance(session->model.encode(frame, 0, 1));
    return BNTT_OK;
  });
}

int64_t bntt_session_steps_done(const bntt_session* session) {
  return bntt::c::value_or_zero(session, "bntt_session", [](const bntt_session& given) {
    return given.session.steps_done();
  });
}

int bntt_session_done(const bntt_session* session) {
  return bntt::c::value_or_zero(session, "bntt_session", [](const bntt_session& given) {
    return given.session.done() ? 1 : 0;
  });
}

int bntt_session_logits(const bntt_session* session, float* logits) {
  return guarded([&] {
    expect_given(session, "bntt_session");
    expect_given(logits, "logits");
    std::ranges::copy(session->session.logits(), logits);
    return BNTT_OK;
  });
}

int bntt_session_probabilities(const bntt_session* session, float* probabilities) {
  return guarded([&] {
    expect_given(session, "bntt_session");
    expect_given(probabilities, "probabilities");
    for (int64_t image = 0; image < session->batch; ++image) {
      probabilities = std::ranges::copy(session->session.probabilities(image), probabilities).out;
    }
    return BNTT_OK;
  });
}

int bntt_session_membranes(const bntt_session* session, const char* layer, float* voltages,
                           int64_t* count) {
  return guarded([&] {
    expect_given(session, "bntt_session");
    expect_given(layer, "layer");
    expect_given(count, "count");
    const bntt::Buffer<float> found = session->session.membranes(layer);
    const auto& stages = session->model.network().stages();
    const auto stage = std::ranges::find(stages, std::string_view(layer), &bntt::StagePlan::name);
    if (found.size() != session->batch * stage->output.size()) {
      throw bntt::Error("bntt_session_membranes: the neurons of '" + stage->name +
                        "' have no voltage that lasts from step to step");
    }
    if (voltages != nullptr && *count < found.size()) {
      throw bntt::Error("bntt_session_membranes: '" + stage->name + "' has " +
                        std::to_string(found.size()) + " voltages, but there is room for " +
                        std::to_string(*count));
    }
    if (voltages != nullptr) std::ranges::copy(found, voltages);
    *count = found.size();
    return BNTT_OK;
  });
}
}
