#include "tests/reference/random_rule.h"

#include <algorithm>

#include "tests/reference/build_ast.h"
#include "tests/reference/random_condition.h"

namespace cepd::reference {
namespace {

using namespace build;

class RuleMaker {
 public:
  RuleMaker(Random& random, const Constructs& constructs, const Surroundings& around)
      : random_(random), may_(constructs), around_(around), conditions_(random, around.few) {}

  ast::Rule rule() {
    ast::Rule out;
    out.name = name(around_.name);
    if (random_.chance(70)) key_ = key();
    for (const std::string& field : key_) out.key.push_back({FieldPath::of(field), {}, false});
    out.pattern = pattern();
    if (random_.chance(last_not_ ? 85 : 60)) out.within = some_bound();
    if (random_.chance(15)) out.from = from();
    if (random_.chance(20)) out.unless.push_back(outside_event());
    if (out.unless.size() == 1 && random_.chance(20)) out.unless.push_back(outside_event());
    if (random_.chance(35)) out.where_condition = where();
    if (random_.chance(15)) {
      out.having = conditions_.of_match(names_, key_.empty() ? std::nullopt : std::optional(key_.front()));
    }
    if (random_.chance(70)) out.after_match = after_match();
    if (around_.into) {
      out.emit = emit_into(*around_.into);
    } else if (random_.chance(60)) {
      out.emit = emit();
    }
    if (random_.chance(10)) out.limit = ast::Limit{1 + random_.below(2), some_bound(), {}};
    const bool bounded = out.within || link_bounds_;
    if (bounded && random_.chance(40)) {
      out.on_timeout.emplace();
      if (around_.into_late) {
        out.on_timeout->emit = emit_into(*around_.into_late);
      } else if (random_.chance(60)) {
        out.on_timeout->emit = emit();
      }
    }
    return out;
  }

 private:
  ast::DurationTerm some_bound() {
    if (around_.gap && random_.chance(30)) return term(*around_.gap);
    return term(std::chrono::seconds(random_.between(1, 8)));
  }

  /// Mostly k, which most events have.
  std::vector<std::string> key() {
    const std::uint64_t kind = random_.below(100);
    if (kind < 6) return {"k", "j"};
    return {kind < 20 ? "j" : "k"};
  }
  /// As many other fields.
  std::vector<FieldPath> by() const {
    if (key_.size() == 2) return {FieldPath::of("j"), FieldPath::of("k")};
    return {FieldPath::of(key_.front() == "k" ? "j" : "k")};
  }

  // ---- pattern ----

  ast::Sequence pattern() {
    // A chain of rules should come to its end often.
    const bool chained = around_.into || !around_.made.empty();
    ast::Sequence out = sequence(1 + random_.below(chained && random_.chance(70) ? 2 : 4), 0);
    // Absence: a NOT at the end.
    if (random_.chance(12)) {
      ast::Step step{link(true), {}};
      step.choice.alternatives.push_back({{not_element()}, {}});
      last_not_ = true;
      if (random_.chance(20)) {
        ast::Step second{link(true), {}};
        second.choice.alternatives.push_back({{not_element()}, {}});
        out.steps.push_back(std::move(step));
        step = std::move(second);
      }
      out.steps.push_back(std::move(step));
    }
    return out;
  }

  ast::Sequence sequence(std::size_t length, unsigned depth) {
    ast::Sequence out;
    for (std::size_t i = 0; i < length; ++i) {
      if (i > 0 && random_.chance(12)) {
        ast::Step step{link(true), {}};
        step.choice.alternatives.push_back({{not_element()}, {}});
        out.steps.push_back(std::move(step));
      }
      ast::Step step{i == 0 ? ast::Link{} : link(false), {}};
      step.choice = choice(depth, i == 0 && depth == 0);
      out.steps.push_back(std::move(step));
    }
    return out;
  }

  ast::Link link(bool before_not) {
    ast::Link out;
    const std::uint64_t kind = random_.below(100);
    if (kind < 15) out.kind = ast::LinkKind::kNext;
    if (kind >= 85 && !before_not) out.kind = ast::LinkKind::kThenAny;
    if (may_.link_bounds && random_.chance(15) && !(before_not && out.kind == ast::LinkKind::kNext)) {
      out.within = some_bound();
      link_bounds_ |= !before_not;
    }
    if (may_.link_bounds && random_.chance(7) && !before_not)
      out.after = term(std::chrono::seconds(random_.between(1, 3)));
    return out;
  }

  /// What an alternative or member may not name: its siblings.
  ast::Choice choice(unsigned depth, bool first) {
    ast::Choice out;
    const std::size_t alternatives = may_.alternatives && random_.chance(12) ? 2 + random_.below(2) : 1;
    const auto before = names_;
    auto after = names_;
    for (std::size_t i = 0; i < alternatives; ++i) {
      names_ = before;
      out.alternatives.push_back(both(depth, first));
      after.insert(after.end(), names_.begin() + static_cast<std::ptrdiff_t>(before.size()), names_.end());
    }
    names_ = after;
    return out;
  }

  ast::Both both(unsigned depth, bool first) {
    ast::Both out;
    if (!may_.both || !random_.chance(8)) {
      out.members.push_back(element(depth, first));
      return out;
    }
    const std::size_t members = 2 + random_.below(2);
    const auto before = names_;
    auto after = names_;
    for (std::size_t i = 0; i < members; ++i) {
      names_ = before;
      out.members.push_back(may_.alternatives && random_.chance(12) ? or_of_singles() : single(first));
      after.insert(after.end(), names_.begin() + static_cast<std::ptrdiff_t>(before.size()), names_.end());
    }
    names_ = after;
    return out;
  }

  ast::Element element(unsigned depth, bool first) {
    if (may_.groups && depth < 2 && random_.chance(depth == 0 ? 14 : 8)) return group(depth);
    if (may_.alternatives && may_.groups && random_.chance(5)) {
      ast::Element out = or_of_singles();
      if (random_.chance(50)) out.quantifier = quantifier(false);
      return out;
    }
    const bool repeated = random_.chance(35);
    return single(first, repeated);
  }

  ast::Element group(unsigned depth) {
    ast::Element out;
    auto body = std::make_shared<ast::Sequence>(sequence(1 + random_.below(3), depth + 1));
    if (random_.chance(25)) {
      body->within = some_bound();
      link_bounds_ = true;
    }
    if (random_.chance(12)) {
      ast::Step step{link(true), {}};
      step.choice.alternatives.push_back({{not_element()}, {}});
      body->steps.push_back(std::move(step));
    }
    out.item = std::shared_ptr<const ast::Sequence>(std::move(body));
    if (random_.chance(60)) out.quantifier = quantifier(true);
    return out;
  }

  /// `(A OR B)`, perhaps with one name for both.
  ast::Element or_of_singles() {
    ast::Element out;
    auto body = std::make_shared<ast::Sequence>();
    body->steps.emplace_back();
    const bool one_name = random_.chance(30);
    const auto before = names_;
    auto after = names_;
    for (int i = 0; i < 2; ++i) {
      names_ = before;
      ast::Element each = one_name ? ast::Element{false, event(false, {}), {}, {}, {}} : single(false);
      body->steps[0].choice.alternatives.push_back({{std::move(each)}, {}});
      after.insert(after.end(), names_.begin() + static_cast<std::ptrdiff_t>(before.size()), names_.end());
    }
    names_ = after;
    out.item = std::shared_ptr<const ast::Sequence>(std::move(body));
    if (one_name) out.as = new_name();
    if (one_name) names_.push_back(out.as->text);
    return out;
  }

  ast::Element single(bool first, bool repeated = false) {
    ast::Element out;
    if (repeated) out.quantifier = quantifier(false);
    if (random_.chance(65)) out.as = new_name();
    out.item = event(first, out.as && repeated ? std::optional(out.as->text) : std::nullopt);
    if (out.as) names_.push_back(out.as->text);
    return out;
  }

  ast::Element not_element() {
    ast::Element out;
    out.negated = true;
    out.item = event(false, {});
    if (random_.chance(15)) {
      out.as = new_name();
      if (!names_.empty() && random_.chance(70)) nots_.push_back({out.as->text, random_.one_of(names_)});
    }
    return out;
  }

  ast::Quantifier quantifier(bool of_group) {
    using Range = std::pair<std::uint32_t, std::optional<std::uint32_t>>;
    const Range range =
        random_.one_of(std::vector<Range>{{0, 1}, {1, {}}, {1, {}}, {0, {}}, {2, 2}, {1, 2}, {2, {}}, {0, 2}, {2, 3}});
    ast::Quantifier out;
    out.min = range.first;
    out.max = range.second;
    const std::uint64_t kind = random_.below(100);
    if (kind < 15 && may_.consecutive) out.consecutive = true;
    if (kind >= 88 && may_.combinations) out.combinations = true;
    if (of_group) return out;
    if (random_.chance(18) && may_.greedy && !out.combinations) out.greedy = true;
    if (random_.chance(12) && may_.until) out.until = event(false, {});
    return out;
  }

  /// `own`: the name of the repeated element whose event this is.
  ast::EventPattern event(bool first, const std::optional<std::string>& own) {
    ast::EventPattern out;
    if (!random_.chance(4)) {
      out.types.push_back(name(some_type()));
      if (random_.chance(8)) out.types.push_back(name(some_type()));
      if (out.types.size() == 2 && out.types[0].text == out.types[1].text) out.types.pop_back();
    }
    if (!key_.empty() && random_.chance(5)) out.by = by();
    if (correlated_ && !names_.empty() && random_.chance(85)) {
      out.condition = conditions_.correlated(names_);
    } else if (random_.chance(25)) {
      out.condition = conditions_.in_brackets(names_, own, first ? Place::kFirst : Place::kLater);
    }
    return out;
  }
  /// Of FROM and UNLESS.
  ast::EventPattern outside_event() {
    ast::EventPattern out;
    out.types.push_back(name(random_.chance(30) ? "X" : some_type()));
    if (!key_.empty() && random_.chance(10)) out.by = by();
    if (correlated_ && !names_.empty() && random_.chance(60)) {
      out.condition = conditions_.correlated(names_);
    } else if (random_.chance(45)) {
      out.condition = conditions_.in_brackets(names_, {}, Place::kOutside);
    }
    return out;
  }

  std::string some_type() {
    if (!around_.made.empty() && random_.chance(55)) return random_.one_of(around_.made);
    return random_.one_of(std::vector<std::string>{"A", "A", "A", "B", "B", "B", "C", "C", "D"});
  }
  ast::Name new_name() { return name("e" + std::to_string(++made_)); }

  // ---- clauses ----

  ast::From from() {
    ast::From out;
    out.any = random_.chance(30);
    std::vector<std::string> types = around_.made;
    if (!out.any) types.insert(types.end(), {"A", "B", "C", "D", "X"});
    for (const std::string& type : types) {
      ast::EventPattern entry;
      entry.types.push_back(name(type));
      if (!key_.empty() && random_.chance(8)) entry.by = by();
      if (random_.chance(15)) entry.condition = conditions_.in_brackets({}, {}, Place::kOutside);
      out.inputs.push_back(std::move(entry));
    }
    return out;
  }

  ast::ExprPtr where() {
    ast::ExprPtr out;
    const std::size_t parts = 1 + random_.below(2);
    for (std::size_t i = 0; i < parts; ++i) {
      ast::ExprPtr part = !nots_.empty() && random_.chance(60) ? conditions_.between(nots_[0].first, nots_[0].second)
                          : names_.empty()                     ? nullptr
                                                               : conditions_.part(names_);
      if (part) out = out ? binary(ast::BinaryOp::kAnd, out, part) : part;
    }
    return out;
  }

  ast::AfterMatch after_match() {
    using ast::Policy;
    ast::AfterMatch out;
    out.policy = random_.one_of(std::vector<Policy>{Policy::kConsume, Policy::kNoSkip, Policy::kNoSkip, Policy::kNoSkip,
                                                    Policy::kSkipPastLast, Policy::kSkipToNext, Policy::kSkipToFirst,
                                                    Policy::kSkipToLast});
    if (out.policy == Policy::kSkipToFirst || out.policy == Policy::kSkipToLast) {
      if (names_.size() < 2) return {};
      out.element = name(names_.back());
    }
    return out;
  }

  ast::Emit emit() {
    ast::Emit out;
    for (const std::string& each : key_) {
      if (random_.chance(50)) out.items.push_back({field(each), {}, {}});
    }
    const std::size_t items = random_.below(3);
    for (std::size_t i = 0; i < items && !names_.empty(); ++i) {
      out.items.push_back({conditions_.value_of_match(random_.one_of(names_)), name("i" + std::to_string(i)), {}});
    }
    if (out.items.empty()) out.items.push_back({number(1), name("one"), {}});
    return out;
  }

  /// An event that has most of the fields that the events of sources have.
  ast::Emit emit_into(const std::string& type) {
    ast::Emit out;
    for (const char* each : {"v", "w", "k", "j"}) {
      if (!random_.chance(85)) continue;
      if (std::find(key_.begin(), key_.end(), each) != key_.end()) {
        out.items.push_back({field(each), {}, {}});  // an item of that name must be the key's
        continue;
      }
      ast::ExprPtr value = number(random_.between(1, 2));
      if (!names_.empty() && random_.chance(85)) {
        const std::string& element = random_.one_of(names_);
        const bool plain = *each == 'k' || *each == 'j' || random_.chance(60);
        value = plain ? field(element, each) : conditions_.value_of_match(element);
      }
      out.items.push_back({value, name(each), {}});
    }
    if (out.items.empty()) out.items.push_back({number(1), name("one"), {}});
    out.into = name(type);
    return out;
  }

  Random& random_;
  const Constructs& may_;
  const Surroundings& around_;
  RandomCondition conditions_;
  std::vector<std::string> names_;                         ///< that may be named here
  std::vector<std::pair<std::string, std::string>> nots_;  ///< a named NOT and an element before it
  unsigned made_ = 0;
  std::vector<std::string> key_;
  bool last_not_ = false, link_bounds_ = false;
  bool correlated_ = random_.chance(20);  ///< most brackets ask for the same equality
};

}  // namespace

dsl::ast::Rule random_rule(Random& random, const Constructs& constructs, const Surroundings& around) {
  return RuleMaker(random, constructs, around).rule();
}

}  // namespace cepd::reference
