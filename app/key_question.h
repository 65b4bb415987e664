#pragma once
/// The key that a person asks about on the command line.

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dsl/plan.h"

namespace cepd::app {

class KeyQuestion {
 public:
  /// `u1`, `user_id=u1`, `a=1,b=x` (in any order), `1,x`; `-` or nothing for a rule without KEY. `1` is the number or
  /// the text, whichever comes first in the events; in double quotes a value is text, commas and all.
  /// Error: what the text should be.
  static Result<KeyQuestion> parse(const std::string& text, const dsl::plan::Rule& rule);

  /// True for the values of the key asked for. Takes note of what keys there are.
  bool wanted(std::span<const Value> values);

  /// `user_id = "u1"`; as it was found, or as it was asked for. Empty for a rule without KEY.
  std::string words() const;
  /// For a key that no event has: near ones, or a few that there are.
  std::string suggestion() const;

 private:
  struct Part {
    std::string text;
    bool quoted = false;
    bool fits(const Value& value) const;
  };
  explicit KeyQuestion(const dsl::plan::Rule& rule) : rule_(&rule) {}
  std::string words_of(std::span<const Value> values) const;

  const dsl::plan::Rule* rule_;
  std::vector<Part> parts_;  // in the order of KEY
  std::string found_id_;     // canonical bytes of the key taken; empty: none yet
  std::string found_words_;
  std::set<std::string> seen_;           // as one may write them
  std::vector<std::string> first_seen_;  // the first few of them
};

}  // namespace cepd::app
