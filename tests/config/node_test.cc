#include "config/node.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"

namespace cepd::config {
namespace {

/// Parses text that must have no mistakes.
Node parse(const std::string& text) {
  Diagnostics diagnostics;
  Node node = parse_yaml("cepd.yaml", text, diagnostics);
  std::string messages;
  for (const auto& d : diagnostics) messages += format(d);
  REQUIRE(messages == "");
  return node;
}

/// All messages of a text, one after the other.
std::string mistakes(const std::string& text, const std::string& file = "cepd.yaml") {
  Diagnostics diagnostics;
  parse_yaml(file, text, diagnostics);
  std::string messages;
  for (const auto& d : diagnostics) messages += format(d);
  return messages;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A directory of its own, removed at the end.
class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "cepd-config-XXXXXX").string();
    CEPD_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = (path_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// An environment variable for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("yaml: maps, lists, scalars and nothing, in the order written") {
  const Node root = parse("b: 1\na: [x, 'null', ~]\nempty:\nc:\n  d: \"q\"\n");
  REQUIRE(root.kind == Node::Kind::kMap);
  REQUIRE(root.fields.size() == 4);
  CHECK(root.fields[0].first == "b");
  CHECK(root.fields[0].second.scalar == "1");
  const Node* list = root.find("a");
  REQUIRE(list != nullptr);
  REQUIRE(list->items.size() == 3);
  CHECK(list->items[1].kind == Node::Kind::kScalar);
  CHECK(list->items[1].scalar == "null");
  CHECK(list->items[2].kind == Node::Kind::kNull);
  CHECK(root.find("empty")->kind == Node::Kind::kNull);
  CHECK(root.find("c")->find("d")->scalar == "q");
  CHECK(root.find("e") == nullptr);
}

TEST_CASE("yaml: an empty file is nothing") {
  CHECK(parse("").kind == Node::Kind::kNull);
  CHECK(parse("# only a comment\n").kind == Node::Kind::kNull);
}

TEST_CASE("yaml: places count from 1, in code points, at the key and at the value") {
  const Node root = parse("a: 1\nä: {größe: xx, b: yy}\nlist:\n  - p\n");
  const Node* outer = root.find("ä");
  REQUIRE(outer != nullptr);
  CHECK(outer->line == 2);
  CHECK(outer->column == 1);
  CHECK(outer->value_column == 4);
  CHECK(outer->find("größe")->column == 5);
  CHECK(outer->find("größe")->value_column == 12);
  CHECK(outer->find("b")->column == 16);
  const Node& item = root.find("list")->items.at(0);
  CHECK(item.line == 4);
  CHECK(item.column == 5);
}

TEST_CASE("yaml: a byte order mark and CRLF move no place") {
  const Node root = parse(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: two\r\n");
  CHECK(root.find("a")->column == 1);
  CHECK(root.find("b")->line == 2);
  CHECK(root.find("b")->scalar == "two");
  CHECK(format(root.find("b")->value_problem(Severity::kError, "no")) ==
        "cepd.yaml:2:4: error: no\n  b: two\n     ^~~\n");
  CHECK(format(root.find("a")->problem(Severity::kError, "no")).find("cepd.yaml:1:") == 0);
}

TEST_CASE("yaml: messages underline the key or the value") {
  const Node root = parse(
      "state:\n  directory: \"/a b\"  # where\n  list: [aa, \"${env:HOME}x\"]\n  url: http://h/#x y # z\n"
      "  flow: {k: v}\n");
  const Node* state = root.find("state");
  const auto at = [&](const Node& node) { return format(node.value_problem(Severity::kError, "m")); };
  CHECK(format(state->find("directory")->problem(Severity::kWarning, "m", "s")) ==
        "cepd.yaml:2:3: warning: m\n    directory: \"/a b\"  # where\n    ^~~~~~~~~\n  s\n");
  CHECK(contains(at(*state->find("directory")), "\n               ^~~~~~\n"));
  CHECK(contains(at(state->find("list")->items[0]), "\n           ^~\n"));
  CHECK(contains(at(*state->find("url")), "\n         ^~~~~~~~~~~~~\n"));
  CHECK(contains(at(*state->find("flow")->find("k")), "\n              ^\n"));
}

TEST_CASE("yaml: syntax errors have a place") {
  CHECK(contains(mistakes("a: 1\nb: [1, 2\n"), "cepd.yaml:3:1: error: "));
  CHECK(contains(mistakes("a: 1\n\tb: 2\n"), "cepd.yaml:2:"));
  CHECK(contains(mistakes("a: *nowhere\n"), "cepd.yaml:1:"));
  CHECK(contains(mistakes("a: 1\n---\nb: 2\n"), "error: expected one document in the file"));
  CHECK(contains(mistakes("a: 1\n? [x]\n: 2\n"), "expected a plain name as key"));
  CHECK(contains(mistakes("a: !secret x\n"), "unknown tag !secret"));
}

TEST_CASE("yaml: control characters are refused") {
  CHECK(mistakes("a: 1\nb: x\x04y\nc: 3\n").find("cepd.yaml:2:5: error: a control character") == 0);
  CHECK(contains(mistakes(std::string("a: \0\n", 5)), "cepd.yaml:1:4: error: a control character"));
}

TEST_CASE("yaml: repeated keys are refused, each with the line of the first") {
  CHECK(mistakes("a: 1\nb: 2\na: 3\n") ==
        "cepd.yaml:3:1: error: repeated key a\n  a: 3\n  ^\n  it stands on line 1 already\n");
  CHECK(contains(mistakes("x:\n  y: 1\n  y: 2\n"), "cepd.yaml:3:3: error: repeated key y"));
}

TEST_CASE("yaml: aliases stand for what their anchor has") {
  const Node root = parse("a: &common {x: 1, y: [2, 3]}\nb: *common\nc: &s text\nd: [*s, *s]\n");
  CHECK(root.find("b")->find("y")->items[1].scalar == "3");
  CHECK(root.find("b")->line == 2);
  CHECK(root.find("b")->value_column == 4);
  CHECK(root.find("d")->items[1].scalar == "text");
}

TEST_CASE("yaml: an alias inside of its own anchor is refused") {
  CHECK(contains(mistakes("a: &a [1, *a]\n"), "an alias cannot stand inside of what it stands for"));
}

TEST_CASE("yaml: aliases cannot unfold without a bound") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [" + before;
    for (int j = 0; j < 9; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  CHECK(contains(mistakes(bomb), "more than 100000 values in one file"));

  std::string wide = "a: &a \"" + std::string(1 << 20, 'x') + "\"\nb: [";
  for (int i = 0; i < 20; ++i) wide += "*a, ";
  CHECK(contains(mistakes(wide + "1]\n"), "bytes of values"));

  std::string many = "a:\n";
  for (int i = 0; i < 100'000; ++i) many += "- 1\n";
  CHECK(contains(mistakes(many), "more than 100000 values in one file"));
}

TEST_CASE("yaml: 50 levels and no more") {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') + std::string(static_cast<std::size_t>(levels), ']');
  };
  CHECK(mistakes(nested(50)) == "");
  CHECK(contains(mistakes(nested(51)), "nested more than 50 levels deep"));
  // Deeper than the library goes itself.
  CHECK(contains(mistakes(nested(100'000)), "error: "));
  std::string by_alias = "a0: &a0 [1]\n";
  for (int i = 1; i < 60; ++i)
    by_alias += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  CHECK(contains(mistakes(by_alias), "nested more than 50 levels deep"));
}

TEST_CASE("yaml: a file over 4 MiB is refused") {
  CHECK(contains(mistakes("a: 1\n" + std::string(kMaxFileBytes, '#')), "the file has more than 4194304 bytes"));
}

TEST_CASE("fill-in: environment variables, anywhere in a value, marked as secret") {
  const Variable variable("CEPD_TEST_USER", "joe: ${env:HOME} #");
  const Node root = parse(
      "a: ${env:CEPD_TEST_USER}\nb: [\"x${env:CEPD_TEST_USER}y${env:CEPD_TEST_USER}\"]\nc: plain\n"
      "${env:CEPD_TEST_USER}: key\n");
  CHECK(root.find("a")->scalar == "joe: ${env:HOME} #");
  CHECK(root.find("a")->from_secret);
  CHECK(root.find("b")->items[0].scalar == "xjoe: ${env:HOME} #yjoe: ${env:HOME} #");
  CHECK_FALSE(root.find("c")->from_secret);
  CHECK(root.fields[3].first == "${env:CEPD_TEST_USER}");
}

TEST_CASE("fill-in: $${ is a plain ${") {
  const Node root = parse("a: x$${env:HOME}\nb: $ $x {\n");
  CHECK(root.find("a")->scalar == "x${env:HOME}");
  CHECK_FALSE(root.find("a")->from_secret);
  CHECK(root.find("b")->scalar == "$ $x {");
}

TEST_CASE("fill-in: files lose their last line ends and are found beside the configuration") {
  const Directory directory;
  const std::string secret = directory.write("token", "  s3cret\nx\r\n\n");
  const std::string file = directory.write("cepd.yaml", "a: ${file:token}\nb: ${file:" + secret + "}\n");
  Diagnostics diagnostics;
  const Node root = load_yaml(file, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(root.find("a")->scalar == "  s3cret\nx");
  CHECK(root.find("b")->scalar == "  s3cret\nx");
  CHECK(root.find("b")->from_secret);
}

TEST_CASE("fill-in: mistakes are at the value, all of them are reported") {
  const Directory directory;
  directory.write("large", std::string(100'000, 'x'));
  const std::string messages = mistakes(
      "a: ${env:CEPD_TEST_UNSET}\nb: ${file:absent}\nc: ${home}\nd: ${env:X\ne: ${file:large}\nf: ${env:1}\ng: "
      "${file:.}\n",
      directory.path() + "/cepd.yaml");
  CHECK(contains(messages, ":1:4: error: environment variable CEPD_TEST_UNSET is not set\n"));
  CHECK(contains(messages, ":2:4: error: cannot read " + directory.path() + "/absent: No such file or directory\n"));
  CHECK(contains(messages, ":3:4: error: expected ${env:NAME} or ${file:/path}; a plain ${ is written $${\n"));
  CHECK(contains(messages, ":4:4: error: expected } after ${\n"));
  CHECK(contains(messages, ":5:4: error: " + directory.path() + "/large has more than 65536 bytes\n"));
  CHECK(contains(messages, ":6:4: error: expected a variable's name in ${env:1}\n"));
  CHECK(contains(messages, ":7:4: error: cannot read " + directory.path() + "/.: Is a directory\n"));
}

TEST_CASE("load: a file that cannot be read is a message") {
  Diagnostics diagnostics;
  load_yaml("/nonexistent/cepd.yaml", diagnostics);
  REQUIRE(diagnostics.size() == 1);
  CHECK(format(diagnostics[0]) ==
        "/nonexistent/cepd.yaml:1:1: error: cannot read /nonexistent/cepd.yaml: No such file or directory\n");
}

}  // namespace cepd::config
