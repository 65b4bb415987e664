#pragma once
/// Can these conditions hold together? Judged before any event is seen, in three-valued logic. Internal to
/// dsl/check*.cc.
///
/// Each value that the conditions compare (a field, an aggregate, or anything that is not understood, by its text) has
/// the set of values left for it, and each pair of such values the ways left for them to compare. A condition that
/// holds in several ways splits a case into several. What is not understood is left free, so that possible() may be
/// true for what cannot hold, and false only for what cannot.

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dsl/value_set.h"

namespace cepd::dsl::checking {

/// What a condition may give: a set.
enum Outcome : unsigned { kTrue = 1, kFalse = 2, kUnknown = 4 };

class Cases {
 public:
  /// What a value may be, whatever the conditions say; ints: its numbers are all ints.
  struct Domain {
    ValueSet values = ValueSet::all();
    bool ints = false;
  };
  using Domains = std::function<Domain(const plan::Expr&)>;

  explicit Cases(Domains domains) : domains_(std::move(domains)), cases_(1) {}

  /// From here on the condition gives one of `outcomes`.
  void assume(const plan::Expr& condition, unsigned outcomes = kTrue);
  bool possible() const { return !cases_.empty(); }

 private:
  struct Case {
    std::map<std::string, std::pair<ValueSet, bool>, std::less<>> values;  // by text; and Domain::ints
    std::map<std::pair<std::string, std::string>, unsigned> relations;     // ways to compare
  };
  using List = std::vector<Case>;

  List apply(const plan::Expr& condition, unsigned outcomes, List cases) const;
  List junction(const plan::Binary& node, unsigned outcomes, List cases) const;
  List comparison(const plan::Binary& node, unsigned outcomes, List cases) const;
  List in(const plan::In& node, unsigned outcomes, List cases) const;
  List truth(const plan::Expr& value, unsigned outcomes, List cases) const;
  List matches(const plan::Matches& node, unsigned outcomes, List cases) const;
  /// `yes` and `no`: the values for which a condition is true and false.
  List split(const plan::Expr& value, const ValueSet& yes, const ValueSet& no, unsigned outcomes, List cases) const;
  List narrowed(const plan::Expr& value, const ValueSet& to, List cases) const;

  bool narrow(Case& one, const plan::Expr& value, const ValueSet& to) const;
  static bool narrow(Case& one, const std::string& text, const ValueSet& to);
  /// Leaves of the values of `to` those for which `to op from` holds for some value of `from`. False when none is left.
  static bool carry(Case& one, const std::string& from, plan::BinaryOp op, const std::string& to, bool& changed);
  bool relate(Case& one, const plan::Expr& a, const plan::Expr& b, unsigned ways) const;
  static bool settle(Case& one);

  Domains domains_;
  List cases_;
};

/// The value of an expression without names: literals and + - * on numbers. Nothing when it is not understood.
std::optional<plan::Constant> folded(const plan::Expr& expr);

}  // namespace cepd::dsl::checking
