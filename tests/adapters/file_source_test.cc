#include "adapters/file_source.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>

#include "adapters/stdin_source.h"
#include "tests/adapters/temporary_file.h"

using cepd::adapters::FileSource;
using cepd::adapters::FileSourceOptions;
using cepd::adapters::Message;
using cepd::adapters::MessageQueue;
using cepd::adapters::Source;
using cepd::adapters::StdinSource;
using cepd::test::TemporaryFile;
using namespace std::chrono_literals;

namespace {

/// Messages up to `count`, as "offset:bytes"; fewer when they do not come in time.
std::vector<std::string> take(MessageQueue& queue, std::size_t count) {
  std::vector<Message> got;
  const auto begun = std::chrono::steady_clock::now();
  while (got.size() < count && std::chrono::steady_clock::now() - begun < 20s) queue.pop(got, count - got.size(), 50ms);
  std::vector<std::string> texts;
  for (const auto& m : got) {
    texts.push_back(std::to_string(m.position.offset) + ":" + m.bytes + (m.too_long ? " too long" : ""));
  }
  return texts;
}

/// All of a bounded source.
std::vector<std::string> take_all(Source& source, MessageQueue& queue) {
  std::vector<std::string> texts;
  while (true) {
    const bool last = source.finished();
    auto more = take(queue, queue.size());
    texts.insert(texts.end(), more.begin(), more.end());
    if (last) return texts;
    std::this_thread::yield();
  }
}

std::vector<std::string> whole(const std::string& text, std::int64_t taken = -1, std::size_t max_line = 1000) {
  const TemporaryFile file(text);
  MessageQueue queue(3, 1 << 20);
  FileSource source("f", {.path = file.path(), .max_line = max_line});
  REQUIRE(source.start(queue, {{{source.id(), 0}, taken}}).has_value());
  auto texts = take_all(source, queue);
  CHECK(source.status() == "finished");
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("file source: whole file with line numbers, blank lines counted, last line without its end taken") {
  CHECK(whole("a\n\n  \t\nb\r\n\r\nc") == Texts{"0:a", "3:b", "5:c"});
  CHECK(whole("a\n") == Texts{"0:a"});
  CHECK(whole("").empty());
  CHECK(whole("\n\n").empty());
}

TEST_CASE("file source: source, partition and kind") {
  const TemporaryFile file("x\n");
  MessageQueue queue(3, 1 << 20);
  FileSource source("orders", {.path = file.path()});
  CHECK(source.bounded());
  CHECK(source.id() == cepd::SourceId("orders"));
  REQUIRE(source.start(queue, {}).has_value());
  std::vector<Message> got;
  REQUIRE(queue.pop(got, 1, 20s) == 1);
  CHECK(got[0].position == cepd::SourcePosition{cepd::SourceId("orders"), 0, 0});
  CHECK(got[0].topic.empty());
  CHECK_FALSE(FileSource("f", {.path = file.path(), .follow = true}).bounded());
}

TEST_CASE("file source: resumes after the line it was at") {
  CHECK(whole("a\nb\n\nc\nd", 0) == Texts{"1:b", "3:c", "4:d"});
  CHECK(whole("a\nb\n\nc\nd", 2) == Texts{"3:c", "4:d"});
  CHECK(whole("a\nb\n\nc\nd", 4).empty());
  CHECK(whole("a\nb\n", 10).empty());
}

TEST_CASE("file source: of lines over the limit only the beginning is pushed") {
  const std::string ten(10, 'x'), eleven(11, 'y'), huge(3'000'000, 'z');
  CHECK(whole(ten + "\n" + eleven + "\nb\n", -1, 10) == Texts{"0:" + ten, "1:" + eleven + " too long", "2:b"});
  // Over several reads; and as the last one.
  const std::string kept = huge.substr(0, 4096) + " too long";
  CHECK(whole(huge + "\nb\n" + huge, -1, 1 << 20) == Texts{"0:" + kept, "1:b", "2:" + kept});
  CHECK(whole(huge + "\nb\n", 0, 1 << 20) == Texts{"1:b"});
  CHECK(whole(huge + "\n", -1, 3'000'000) == Texts{"0:" + huge});
}

TEST_CASE("file source: many lines through a small queue come whole and in order") {
  std::string text;
  Texts expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string line = std::string(static_cast<std::size_t>(i % 97), 'x') + std::to_string(i);
    text += line + "\n";
    expected.push_back(std::to_string(i) + ":" + line);
  }
  CHECK(whole(text) == expected);
}

TEST_CASE("file source: what is no file is refused at once") {
  MessageQueue queue(3, 1 << 20);
  const TemporaryFile file("a\n");
  const std::string directory = file.path().substr(0, file.path().rfind('/'));
  CHECK_FALSE(FileSource("f", {.path = file.path() + "x"}).start(queue, {}).has_value());
  CHECK_FALSE(FileSource("f", {.path = directory}).start(queue, {}).has_value());
  CHECK_FALSE(FileSource("f", {.path = directory, .follow = true}).start(queue, {}).has_value());
}

TEST_CASE("file source: stops while the queue is full once that is closed") {
  const TemporaryFile file("a\nb\nc\n");
  for (const bool follow : {false, true}) {
    MessageQueue queue(1, 1 << 20);
    FileSource source("f", {.path = file.path(), .follow = follow});
    REQUIRE(source.start(queue, {}).has_value());
    std::vector<Message> got;
    REQUIRE(queue.pop(got, 1, 20s) == 1);
    queue.close();
    source.stop();
    CHECK_FALSE(source.finished());
  }
}

TEST_CASE("file source: reads a named pipe to its end") {
  const TemporaryFile file("");
  const std::string path = file.path() + ".pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  MessageQueue queue(3, 1 << 20);
  // Opened for both, so that the source finds a writer from the beginning.
  std::fstream writer(path, std::ios::in | std::ios::out);
  FileSource source("f", {.path = path});
  REQUIRE(source.start(queue, {}).has_value());
  writer << "a\nb\n" << std::flush;
  CHECK(take(queue, 2) == Texts{"0:a", "1:b"});
  writer << "c" << std::flush;
  writer.close();
  CHECK(take_all(source, queue) == Texts{"2:c"});
}

TEST_CASE("file source: follows what is appended, whole lines only") {
  const TemporaryFile file("a\nb");
  MessageQueue queue(10, 1 << 20);
  FileSource source("f", {.path = file.path(), .follow = true});
  REQUIRE(source.start(queue, {}).has_value());
  CHECK(take(queue, 1) == Texts{"0:a"});
  file.append("2\n\n");
  CHECK(take(queue, 1) == Texts{"1:b2"});
  file.append("c\n");
  CHECK(take(queue, 1) == Texts{"3:c"});
  CHECK_FALSE(source.finished());
  source.stop();
}

TEST_CASE("file source: waits for a file that is not there yet") {
  const TemporaryFile file("");
  file.rename_away();
  MessageQueue queue(10, 1 << 20);
  FileSource source("f", {.path = file.path(), .follow = true});
  REQUIRE(source.start(queue, {}).has_value());
  while (source.status() != "waiting for file") std::this_thread::yield();
  file.append("a\n");
  CHECK(take(queue, 1) == Texts{"0:a"});
}

TEST_CASE("file source: follows a name to the next file when it is rotated") {
  const TemporaryFile file("a\n");
  MessageQueue queue(10, 1 << 20);
  FileSource source("f", {.path = file.path(), .follow = true});
  REQUIRE(source.start(queue, {}).has_value());
  CHECK(take(queue, 1) == Texts{"0:a"});
  file.rename_away();
  file.append_to_renamed("b\n");
  CHECK(take(queue, 1) == Texts{"1:b"});
  // An empty file of that name: the writer may still have the old one.
  file.append("");
  file.append_to_renamed("c\nlast");
  CHECK(take(queue, 1) == Texts{"2:c"});
  file.append("d\n");
  CHECK(take(queue, 2) == Texts{"3:last", "4:d"});
  file.append("e\n");
  CHECK(take(queue, 1) == Texts{"5:e"});
}

TEST_CASE("file source: reads a truncated file from its beginning, line numbers go on") {
  const TemporaryFile file("a\nb\nunfinished");
  MessageQueue queue(10, 1 << 20);
  FileSource source("f", {.path = file.path(), .follow = true});
  REQUIRE(source.start(queue, {}).has_value());
  CHECK(take(queue, 2) == Texts{"0:a", "1:b"});
  while (source.status() != "waiting for lines") std::this_thread::yield();
  file.overwrite("c\n");
  CHECK(take(queue, 1) == Texts{"2:c"});
}

TEST_CASE("file source: following resumes, and sees that the file is a new one by its fewer lines") {
  const TemporaryFile file("a\nb\nc\n");
  const auto resumed = [&](std::int64_t at, std::size_t count) {
    MessageQueue queue(10, 1 << 20);
    FileSource source("f", {.path = file.path(), .follow = true});
    REQUIRE(source.start(queue, {{{source.id(), 0}, at}}).has_value());
    return take(queue, count);
  };
  CHECK(resumed(0, 2) == Texts{"1:b", "2:c"});
  file.append("d\n");
  CHECK(resumed(2, 1) == Texts{"3:d"});
  CHECK(resumed(9, 4) == Texts{"10:a", "11:b", "12:c", "13:d"});
  // A last line that was taken without its end, which comes now: not taken twice, and no sign of another file.
  file.overwrite("a\nb");
  MessageQueue queue(10, 1 << 20);
  FileSource source("f", {.path = file.path(), .follow = true});
  REQUIRE(source.start(queue, {{{source.id(), 0}, 1}}).has_value());
  while (source.status() != "waiting for lines") std::this_thread::yield();
  file.append("\nc\n");
  CHECK(take(queue, 1) == Texts{"2:c"});
}

namespace {

/// What a source reads that goes on behind line `resume` of the file `origin`: `count` messages, and the last origin
/// that came with one.
struct GoneOn {
  Texts texts;
  std::string origin;
};
GoneOn go_on(const TemporaryFile& file, bool follow, std::int64_t resume, const std::string& origin, std::size_t count,
             bool alone = false) {
  MessageQueue queue(20, 1 << 20);
  FileSource source("f", {.path = file.path(), .follow = follow});
  source.go_on_in(origin, alone);
  REQUIRE(source.start(queue, {{{source.id(), 0}, resume}}).has_value());
  GoneOn got;
  std::vector<Message> messages;
  while (messages.size() < count && queue.pop(messages, count - messages.size(), 20s) > 0) {
  }
  for (const Message& message : messages) {
    got.texts.push_back(std::to_string(message.position.offset) + ":" + message.bytes);
    if (message.origin) got.origin = *message.origin;
  }
  const auto settled = [&] { return source.finished() || source.status().starts_with("waiting"); };
  while (!settled()) std::this_thread::yield();
  CHECK(queue.size() == 0);
  return got;
}

}  // namespace

TEST_CASE("file source: goes on in the file that was read before, whatever its name is now") {
  for (const bool follow : {false, true}) {
    CAPTURE(follow);
    const TemporaryFile file("\na\nb\n");
    const std::string first = go_on(file, follow, -1, "", 2).origin;
    REQUIRE_FALSE(first.empty());
    CHECK(go_on(file, follow, 1, first, 1).texts == Texts{"2:b"});
    CHECK(go_on(file, follow, 1, first, 1).origin.empty());
    file.rename_away();
    file.append_to_renamed("c\n");
    file.append("d\ne\n");
    const GoneOn next = go_on(file, follow, 1, first, 4);
    CHECK(next.texts == Texts{"2:b", "3:c", "4:d", "5:e"});
    // With fewer lines than were read, and with more.
    CHECK(go_on(file, follow, 4, next.origin, 1).texts == Texts{"5:e"});
    file.append("f\ng\nh\ni\n");
    CHECK(go_on(file, follow, 4, next.origin, 5).texts == Texts{"5:e", "6:f", "7:g", "8:h", "9:i"});
    CHECK(go_on(file, follow, 1, first, 2, true).texts == Texts{"2:b", "3:c"});
  }
}

TEST_CASE("file source: a file that takes the place of the one that was read is read from its beginning") {
  for (const bool follow : {false, true}) {
    CAPTURE(follow);
    const TemporaryFile file("a\nb\nc\n");
    const std::string origin = go_on(file, follow, -1, "", 3).origin;
    // Truncated in place, and longer again than it was.
    file.overwrite("d\ne\nf\ng\n");
    const GoneOn next = go_on(file, follow, 2, origin, 4);
    CHECK(next.texts == Texts{"3:d", "4:e", "5:f", "6:g"});
    CHECK(go_on(file, follow, 4, next.origin, 2).texts == Texts{"5:f", "6:g"});
    CHECK(go_on(file, follow, 2, origin, 0, true).texts.empty());
    // A copy has another inode and the same beginning.
    std::filesystem::copy_file(file.path(), file.path() + ".copy");
    std::filesystem::rename(file.path() + ".copy", file.path());
    CHECK(go_on(file, follow, 4, next.origin, 2).texts == Texts{"5:f", "6:g"});
  }
}

TEST_CASE("file source: of two files that begin alike it goes on in the one it was in") {
  const TemporaryFile file("a\nb\n");
  const std::string origin = go_on(file, true, -1, "", 2).origin;
  file.rename_away();
  file.append("a\nx\ny\n");
  CHECK(go_on(file, true, 0, origin, 4).texts == Texts{"1:b", "2:a", "3:x", "4:y"});
}

TEST_CASE("file source: files that were rotated in between are told of") {
  const TemporaryFile file("a\n");
  const std::string path = file.path();
  file.rename_away();
  std::ofstream(path + ".2") << "b\n";
  std::ofstream(path + ".3") << "c\n";
  file.append("d\n");
  const auto now = std::filesystem::last_write_time(path);
  std::filesystem::last_write_time(path + ".3", now - 3s);
  std::filesystem::last_write_time(path + ".1", now - 2s);
  std::filesystem::last_write_time(path + ".2", now - 1s);
  const cepd::adapters::FileDescriptor last(::open((path + ".1").c_str(), O_RDONLY));
  CHECK(cepd::adapters::written_since(path, last.get()) == Texts{path + ".2"});
}

TEST_CASE("file source: what does not say which file it was is not heeded") {
  const TemporaryFile file("a\nb\n");
  for (const char* text : {"x", "1 2 3", "1 2 5000 4", "1 2 3 4 5"})
    CHECK(go_on(file, true, 0, text, 1).texts == Texts{"1:b"});
}

TEST_CASE("stdin source: lines to the end, counted on from where it was") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  MessageQueue queue(10, 1 << 20);
  StdinSource source("in", 100, ends[0]);
  CHECK(source.bounded());
  REQUIRE(source.start(queue, {{{source.id(), 0}, 4}}).has_value());
  REQUIRE(::write(ends[1], "a\n\nb", 4) == 4);
  CHECK(take(queue, 1) == Texts{"5:a"});
  ::close(ends[1]);
  CHECK(take_all(source, queue) == Texts{"7:b"});
  CHECK(source.status() == "finished");
  ::close(ends[0]);
}

TEST_CASE("stdin source: stops while nothing comes") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  MessageQueue queue(10, 1 << 20);
  StdinSource source("in", 100, ends[0]);
  REQUIRE(source.start(queue, {}).has_value());
  source.stop();
  CHECK(source.status() == "stopped");
  CHECK_FALSE(source.finished());
  ::close(ends[0]);
  ::close(ends[1]);
}
