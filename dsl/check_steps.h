#pragma once
/// Steps of a checked pattern in the user's words: what they are called and where they stand. Internal to
/// dsl/check_warn*.cc.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dsl/check_pattern_tree.h"
#include "dsl/check_warn.h"

namespace cepd::dsl::checking {

/// "1st", "2nd", …
std::string ordinal(std::uint32_t n);

/// Text of the file as it may be quoted in a message: on one line, in back quotes, cut where it is long.
std::string quoted_text(const Reporter& report, ast::Location where);

/// Only looks at the rule, whose tree must stay where it is.
class StepText {
 public:
  StepText(const RuleText& text, const plan::Rule& rule, const Reporter& report);

  /// "b", "b OR c", "b AND c", "NOT d", "`(b THEN c)+`"; of branches what each begins with.
  std::string name(const plan::Step& step) const;
  ast::Location where(const plan::Step& step) const;
  std::string name(const plan::Slot& slot) const;
  ast::Location where(const plan::Slot& slot) const;
  ast::Location where(std::size_t element) const { return text_.elements[element].element->where; }
  /// The link written before the step; null on the first.
  const ast::Link* link(const plan::Step& step) const;

 private:
  const RuleText& text_;
  const plan::Rule& rule_;
  const Reporter& report_;
  std::map<const plan::Group*, const ast::Element*> groups_;
};

/// Calls `visit` with every step, those of groups and alternatives after the one they stand in.
void for_each_step(const plan::Sequence& sequence, const std::function<void(const StepPlace&)>& visit);

/// A slot whose event may be the next one that is bound, and how it is reached.
struct Follower {
  const plan::Slot* slot = nullptr;
  plan::Link link;
};
struct Followers {
  std::vector<Follower> slots;
  bool end = false;  ///< the match may be complete there
};
/// What may be bound next when the pattern has come to `at`, with an event bound before.
Followers followers(const plan::Rule& rule, const StepPlace& at);

inline bool is_not(const plan::Step& step) { return std::holds_alternative<plan::NotStep>(step.item); }
/// The elements that take a slot's events.
std::vector<std::size_t> elements_of(const plan::Slot& slot);

}  // namespace cepd::dsl::checking
