#include "state/damage_guard.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "tests/state/temporary_directory.h"

namespace cepd::state {
namespace {

struct Ended {
  int status;
  std::string said;
};

/// How a child process with the guard ends, and what it says.
Ended run(const std::function<void()>& body) {
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(::open(directory.file("said").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    // Those of the test program, or of a sanitizer, have more to say.
    for (const int signal : {SIGBUS, SIGSEGV, SIGFPE, SIGABRT}) std::signal(signal, SIG_DFL);
    guard_damaged_files("Mend it.");
    body();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  std::ifstream file(directory.file("said"));
  return {status, {std::istreambuf_iterator<char>(file), {}}};
}

TEST_CASE("damage guard: a file that was cut off under its map is said, with exit code 1") {
  const Ended ended = run([] {
    const TemporaryDirectory directory;
    const std::string path = directory.file("data");
    const UsingFile used(path);
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    if (::ftruncate(fd, 8192) != 0) return;
    auto* map = static_cast<volatile char*>(::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0));
    if (::ftruncate(fd, 0) != 0) return;
    static_cast<void>(map[4096]);
  });
  REQUIRE(WIFEXITED(ended.status));
  CHECK(WEXITSTATUS(ended.status) == 1);
  INFO(ended.said);
  CHECK(ended.said.starts_with("cepd: /"));
  CHECK(
      ended.said.ends_with("/data is damaged, or its disk fails: using it ended with SIGBUS. Nothing was written over. "
                           "Mend it.\n"));
}

TEST_CASE("damage guard: an abort is said, also of the outer of two files after the inner one") {
  const Ended ended = run([] {
    const std::string outer = "outer", inner = "inner";
    const UsingFile one(outer);
    { const UsingFile two(inner); }
    std::abort();
  });
  REQUIRE(WIFEXITED(ended.status));
  CHECK(WEXITSTATUS(ended.status) == 1);
  CHECK(ended.said.find("cepd: outer is damaged, or its disk fails: using it ended with SIGABRT.") !=
        std::string::npos);
}

TEST_CASE("damage guard: what ends a thread that uses no file ends it as ever") {
  const Ended ended = run([] {
    const std::string path = "data";
    { const UsingFile used(path); }
    std::abort();
  });
  CHECK(ended.said.empty());
  REQUIRE(WIFSIGNALED(ended.status));
  CHECK(WTERMSIG(ended.status) == SIGABRT);
}

}  // namespace
}  // namespace cepd::state
