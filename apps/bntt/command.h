#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace bntt::cli {

/// What the chosen subcommand will do; returns the exit code.
using Action = std::function<int()>;

inline constexpr int kDone = 0;
inline constexpr int kBadInput = 2;
inline constexpr int kInterrupted = 130;  // as a shell reports SIGINT

/// For numbers of an option. CLI11's own describe the range up to the largest double, digit by
/// digit.
CLI::Validator not_negative();
CLI::Validator positive();

// One file per subcommand, one function each; main.cpp lists them.
void add_train(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_experiment(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_quantize(CLI::App& app, Action& action);
void add_steps(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_exit(CLI::App& app, Action& action);
void add_activity(CLI::App& app, Action& action);
void add_energy(CLI::App& app, Action& action);
void add_attack(CLI::App& app, Action& action);
void add_classical(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_bench_kernels(CLI::App& bench_command, Action& action);
void add_bench_break_even(CLI::App& bench_command, Action& action);
void add_bench_parallelism(CLI::App& bench_command, Action& action);
void add_plot(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_settings(CLI::App& app, Action& action);
void add_help_pages(CLI::App& app, Action& action);

}  // namespace bntt::cli
