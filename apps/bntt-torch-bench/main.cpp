#include <c10/util/Exception.h>

#include <cstdio>
#include <new>
#include <string>

#include "base/memory.h"
#include "bntt/error.h"
#include "torch_engine.h"

// bntt-torch-bench JOB: started by bntt bench --against torch.
int main(int argc, char** argv) {
  using bntt::bench::answer_error;
  if (argc != 2) {
    std::fputs("bntt-torch-bench: is started by bntt bench --against torch\n", stderr);
    return 2;
  }
  bntt::keep_freed_memory();
  try {
    bntt::bench::serve(*bntt::bench::make_torch_engine(bntt::bench::job_from_json(argv[1])));
    return 0;
  } catch (const bntt::Error& error) {
    answer_error(error.what());
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    answer_error("LibTorch: " + message.substr(0, message.find('\n')));
  } catch (const std::bad_alloc&) {
    answer_error("there is not enough memory for this");
  }
  return 2;
}
