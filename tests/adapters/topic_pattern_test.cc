#include "adapters/topic_pattern.h"

#include <doctest/doctest.h>

using cepd::adapters::TopicPattern;

namespace {

std::string captured(std::string_view pattern, std::string_view topic) {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  const TopicPattern made(pattern);
  if (!made.capture(topic, found)) return found.empty() ? "no" : "no, but it has left something";
  std::string out;
  for (const auto& [name, level] : found) out += std::string(name) + "=" + std::string(level) + ";";
  return out;
}

}  // namespace

TEST_CASE("topic pattern: mistakes") {
  for (const char* filter : {"a", "a/b", "#", "+", "a/+/b/#", "/", "a//b", "+/+", "{a}", "s/{site}/{_d2}/#",
                             "$share/g/a", "$share/g/{x}/#", "$share/g//a", "$SYS/#"}) {
    CAPTURE(filter);
    CHECK(TopicPattern::mistake(filter) == "");
  }
  for (const char* filter :
       {"", "a#", "#/a", "a/b+", "a/#/b", "++", "{}", "{a", "a{b}", "{a}b", "{a b}", "{1a}", "{a}/{a}", "{a}/{b}}",
        "$share/g", "$share//a", "$share/g/", "$share/+/a", "$share/{g}/a"}) {
    CAPTURE(filter);
    CHECK(TopicPattern::mistake(filter) != "");
  }
  CHECK(TopicPattern::mistake(std::string(65'536, 'a')) != "");
}

TEST_CASE("topic pattern: the broker's filter") {
  CHECK(TopicPattern("sensors/{site}/{device}/temp").filter() == "sensors/+/+/temp");
  CHECK(TopicPattern("$share/cepd/s/{site}/#").filter() == "$share/cepd/s/+/#");
  CHECK(TopicPattern("/a//b/").filter() == "/a//b/");
  CHECK(TopicPattern("{a}/+/{b}").names() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("topic pattern: what stands at named levels") {
  CHECK(captured("sensors/{site}/{device}/temp", "sensors/n/7/temp") == "site=n;device=7;");
  CHECK(captured("sensors/{site}/{device}/temp", "sensors/n/7/hum") == "no");
  CHECK(captured("sensors/{site}/{device}/temp", "sensors/n/7") == "no");
  CHECK(captured("sensors/{site}/{device}/temp", "sensors/n/7/temp/x") == "no");
  CHECK(captured("$share/g/{a}/+/{c}", "1/2/3") == "a=1;c=3;");
  CHECK(captured("{a}/#", "1") == "a=1;");
  CHECK(captured("{a}/#", "1/2/3") == "a=1;");
  CHECK(captured("{a}/{b}", "/") == "a=;b=;");
  CHECK(captured("#", "x/y") == "");
}
