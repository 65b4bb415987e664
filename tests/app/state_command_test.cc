// What `cepd state` prints and does; tests/e2e/state_test.py has it beside daemons.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <regex>
#include <string>

#include "app/commands.h"
#include "state/checkpoints.h"
#include "state/committer.h"
#include "state/journal.h"
#include "state/layout.h"
#include "state/open.h"
#include "tests/state/temporary_directory.h"

namespace cepd::app {
namespace {

using namespace std::chrono_literals;
using state::Space;
using state::TemporaryDirectory;
using state::WriteBatch;

/// Keeps what comes to a file descriptor in a file; the command's own process writes there.
class Captured {
 public:
  Captured(int fd, std::string path) : fd_(fd), path_(std::move(path)), before_(::dup(fd)) {
    std::cout.flush();  // what a test has said so far
    std::FILE* file = std::fopen(path_.c_str(), "w");
    REQUIRE(file != nullptr);
    ::dup2(::fileno(file), fd_);
    std::fclose(file);
  }
  ~Captured() { end(); }
  std::string end() {
    if (before_ >= 0) {
      ::dup2(before_, fd_);
      ::close(before_);
      before_ = -1;
    }
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  int fd_;
  std::string path_;
  int before_;
};

struct Said {
  int code;
  std::string out, err;
};

class Subject {
 public:
  Subject() { options_.directory = directory_.file("state"); }
  std::string file(const std::string& name) const { return directory_.file(name); }

  /// Checkpoints 1 to `count`, the nth with n everywhere, and an outbox call after each.
  void make(std::uint64_t count) {
    auto backend = state::open_empty(options_);
    REQUIRE(backend.has_value());
    WriteBatch version;
    version.put(Space::kMeta, "format_version", "4");
    REQUIRE((*backend)->commit(version).has_value());
    state::CheckpointOptions keeping;
    keeping.journal_retain = 24h;
    auto checkpoints = state::Checkpoints::open(**backend, keeping, {}, system_clock());
    REQUIRE(checkpoints.has_value());
    state::Committer committer(**backend, {}, {}, checkpoints->get());
    for (std::uint64_t i = 1; i <= count; ++i) {
      WriteBatch entry;
      entry.put(Space::kJournal, state::ordered_key(i),
                encode(state::JournalRecord{i, system_clock().now(), state::JournalAdvance{}}));
      committer.add(std::move(entry));
      const std::uint64_t number = (*checkpoints)->begin(i, i);
      WriteBatch changes;
      for (const Space space : state::kCheckpointSpaces) changes.put(space, "key", std::to_string(i));
      (*checkpoints)->add(std::move(changes));
      (*checkpoints)->finish();
      REQUIRE((*checkpoints)->wait_finished(number, std::chrono::steady_clock::now() + 60s));
      WriteBatch call;
      call.put(Space::kOutbox, state::ordered_key(i), "call");
      committer.add(std::move(call));
    }
    REQUIRE(committer.stop().has_value());
  }

  void change(Space space, const std::string& key, const std::string& value) {
    auto backend = state::open_existing(options_);
    REQUIRE(backend.has_value());
    WriteBatch batch;
    batch.put(space, key, value);
    REQUIRE((*backend)->commit(batch).has_value());
  }

  std::string get(Space space, const std::string& key) {
    auto backend = state::open_existing(options_);
    REQUIRE(backend.has_value());
    return (*backend)->get(space, key).value().value_or("none");
  }

  Said run(const std::string& what, const std::string& directory = "state") {
    StateArguments arguments;
    arguments.what = what;
    return run(std::move(arguments), directory);
  }
  Said roll_back(std::uint64_t checkpoint) {
    StateArguments arguments;
    arguments.what = "rollback";
    arguments.checkpoint = checkpoint;
    return run(std::move(arguments), "state");
  }
  /// `what`: export or import.
  Said transfer(const std::string& what, const std::string& directory = "state") {
    StateArguments arguments;
    arguments.what = what;
    arguments.file = file("exported");
    return run(std::move(arguments), directory);
  }

 private:
  Said run(StateArguments arguments, const std::string& directory) {
    arguments.directory = directory_.file(directory);
    Captured out(STDOUT_FILENO, directory_.file("stdout"));
    Captured err(STDERR_FILENO, directory_.file("stderr"));
    // A damaged file ends the process.
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const int code = state_command(arguments);
      std::cout.flush();
      ::_exit(code);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    return {WEXITSTATUS(status), out.end(), err.end()};
  }

  TemporaryDirectory directory_;
  state::LmdbOptions options_;
};

TEST_CASE("state: list shows each checkpoint, and one that was not finished") {
  Subject subject;
  subject.make(3);
  const Said listed = subject.run("list");
  CHECK(listed.code == kGood);
  INFO(listed.out);
  const std::regex line(
      R"(checkpoint 2 of 20\S+Z: 6 records, \d+ bytes; journal up to 2; 5 changed, \d+ bytes written in [\d.]+ ms, )"
      R"(longest slice [\d.]+ ms; [0-9a-f]{16})");
  CHECK(std::regex_search(listed.out, line));
  CHECK(std::count(listed.out.begin(), listed.out.end(), '\n') == 3);

  WriteBatch begun;
  state::put_number(begun, state::kBegunKey, 4);
  subject.change(Space::kMeta, begun.changes()[0].key, begun.changes()[0].value);
  CHECK(subject.run("list").out.ends_with("checkpoint 4 was not finished: the next start takes it back\n"));
}

TEST_CASE("state: list of state without a checkpoint") {
  Subject subject;
  subject.make(0);
  const Said listed = subject.run("list");
  CHECK(listed.code == kGood);
  CHECK(listed.out == "no checkpoint\n");
}

TEST_CASE("state: verify says what is good, and fails where something is not") {
  Subject subject;
  subject.make(2);
  const Said good = subject.run("verify");
  CHECK(good.code == kGood);
  INFO(good.out);
  CHECK(std::regex_match(good.out, std::regex("checkpoint 1 of 20\\S+Z: good\n"
                                              "checkpoint 2 of 20\\S+Z: good\n"
                                              "\\d+ records looked at\n")));
  subject.change(Space::kPositions, "key", "3");
  const Said bad = subject.run("verify");
  CHECK(bad.code == kFailed);
  INFO(bad.out);
  CHECK(std::regex_search(bad.out, std::regex("checkpoint 2 of 20\\S+Z: DAMAGED\n"
                                              "problem: checkpoint 2 cannot be gone back to")));
}

TEST_CASE("state: damaged pages are said, and are never good") {
  Subject subject;
  subject.make(3);
  const std::string path = subject.file("state/data.mdb");
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::size_t used = whole.find_last_not_of('\0') + 1;
  constexpr std::size_t kPage = 4096;
  for (unsigned seed = 0; seed < 40; ++seed) {
    INFO("seed ", seed);
    std::mt19937 random(seed);
    std::string damaged = whole;
    // All pages behind the two that say where the others are.
    for (std::size_t at = 2 * kPage; at < used; at += kPage) {
      for (int bits = 0; bits < 20; ++bits) {
        char& byte = damaged[at + random() % kPage];
        byte = static_cast<char>(byte ^ (1 << random() % 8));
      }
    }
    std::ofstream(path, std::ios::binary) << damaged;
    const Said said = subject.run("verify");
    CHECK(said.code != kGood);
    const bool told =
        said.out.find("problem: ") != std::string::npos || said.err.starts_with("cepd state: ") ||
        said.err.find("data.mdb is damaged, or its disk fails: using it ended with SIG") != std::string::npos;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    // Where a page is too damaged to be read the sanitizer has its own way to say so.
    CHECK((told || said.err.find("Sanitizer") != std::string::npos));
#else
    CHECK(told);
#endif
  }
  std::ofstream(path, std::ios::binary) << whole;
  CHECK(subject.run("verify").code == kGood);
}

TEST_CASE("state: rollback goes back, and to nothing that is not there") {
  Subject subject;
  subject.make(4);
  const Said done = subject.roll_back(2);
  CHECK(done.code == kGood);
  CHECK(done.out.starts_with("the state is that of checkpoint 2 of 20"));
  CHECK(subject.get(Space::kPartial, "key") == "2");
  CHECK(subject.get(Space::kOutbox, state::ordered_key(1)) == "call");
  CHECK(subject.get(Space::kOutbox, state::ordered_key(2)) == "none");
  CHECK(subject.get(Space::kJournal, state::ordered_key(4)) != "none");
  CHECK(subject.run("verify").code == kGood);

  const Said none = subject.roll_back(3);
  CHECK(none.code == kFailed);
  CHECK(none.err == "cepd state: there is no checkpoint 3\n");
  CHECK(subject.get(Space::kPartial, "key") == "2");
}

TEST_CASE("state: what was exported is imported with its checkpoints") {
  Subject subject;
  subject.make(3);
  CHECK(subject.transfer("export").out.starts_with("exported "));
  const Said imported = subject.transfer("import", "other");
  CHECK(imported.code == kGood);
  CHECK(imported.out.starts_with("imported "));
  CHECK(subject.run("verify", "other").code == kGood);
  CHECK(subject.run("list", "other").out == subject.run("list").out);

  const Said again = subject.transfer("import", "other");
  CHECK(again.code == kFailed);
  CHECK(again.err == "cepd state: there is state in " + subject.file("other") + ", and it is not written over\n");
  const Said over = subject.transfer("export");
  CHECK(over.code == kFailed);
  CHECK(over.err == "cepd state: " + subject.file("exported") + " exists, and is not written over\n");
}

TEST_CASE("state: stats says how much there is") {
  Subject subject;
  subject.make(3);
  const Said said = subject.run("stats");
  CHECK(said.code == kGood);
  INFO(said.out);
  CHECK(std::regex_search(said.out, std::regex("\npartial +1 +4096\n")));
  CHECK(std::regex_search(said.out, std::regex("\noutbox +3 +4096\n")));
  CHECK(std::regex_search(said.out, std::regex("\njournal entries 1 to 3\n3 checkpoints, the last one of 20\\S+Z\n$")));
}

TEST_CASE("state: no state, and state in use") {
  Subject subject;
  const Said none = subject.run("list");
  CHECK(none.code == kFailed);
  CHECK(none.err == "cepd state: there is no state in " + subject.file("state") + "\n");
  subject.make(1);
  state::LmdbOptions options;
  options.directory = subject.file("state");
  const auto used = state::open_existing(options);
  REQUIRE(used.has_value());
  const Said busy = subject.roll_back(1);
  CHECK(busy.code == kFailed);
  CHECK(busy.err.find("is in use by process " + std::to_string(::getpid()) + ": stop that cepd") != std::string::npos);
}

}  // namespace
}  // namespace cepd::app
