#pragma once
/// Tokens -> one statement. grammar.cc, with the grammar_*.h that only it includes, is the one unit that knows
/// Boost.Spirit X3. Internal to dsl/.

#include <string_view>
#include <vector>

#include "dsl/problems.h"
#include "dsl/token.h"

namespace cepd::dsl::syntax {

/// What the grammar could have gone on with at some token.
struct Expectation {
  /// How it is told when there is more than one.
  enum class Show : std::uint8_t {
    kAlways,
    kClause,  ///< several become "another clause"
    kHidden,  ///< only when there is nothing else: operators and other ways to go on that nobody looks for there
  };
  std::string_view text;
  Keyword keyword = Keyword::kNone;
  Show show = Show::kAlways;
};

/// What is noted while a statement is read.
class Progress {
 public:
  Progress(const Token* begin, Problems& problems);

  /// `at` is not what it could have been. Only the furthest place counts: there the statement goes wrong.
  void expected(const Token* at, const Expectation& what) {
    if (at < furthest_) return;
    if (at > furthest_) {
      furthest_ = at;
      expectations_.clear();
    }
    expectations_.push_back(what);
  }

  /// For named parts: how much has been noted at `at`, and to put `what` in place of all that was noted since.
  std::size_t mark(const Token* at) const { return at == furthest_ ? expectations_.size() : 0; }
  void replace(const Token* at, std::size_t mark, const Expectation& what) {
    if (at != furthest_) return;
    expectations_.resize(std::min(mark, expectations_.size()));
    expectations_.push_back(what);
  }

  void clause(const Token* at) { clauses_.push_back(at); }

  /// A mistake in what a well-formed part says; reading goes on.
  void error(ast::Location where, std::string message, std::string suggestion = {}) {
    problems_.add(where, std::move(message), std::move(suggestion));
  }
  /// The statement cannot be read on; no other reason is given.
  void refuse() { refused_ = true; }

  const Token* begin() const { return begin_; }
  const Token* furthest() const { return furthest_; }
  const std::vector<Expectation>& expectations() const { return expectations_; }
  const std::vector<const Token*>& clauses() const { return clauses_; }  ///< keywords of the rule's clauses, in order
  bool refused() const { return refused_; }
  /// Fields of the rule's KEY, wherever it stands; 0 when there is none.
  std::size_t key_fields() const { return key_fields_; }

 private:
  const Token* begin_;
  const Token* furthest_;
  std::vector<Expectation> expectations_;
  std::vector<const Token*> clauses_;
  Problems& problems_;
  bool refused_ = false;
  std::size_t key_fields_ = 0;
};

/// Reads one statement from `at`, which is moved past it. False when it could not be read: `progress` says where and
/// why.
bool parse_statement(const Token*& at, const Token* end, Progress& progress, ast::Statement& out);

/// The same for the pattern, with its bound, that a bare file holds. Name and location of the rule are not set.
bool parse_bare_pattern(const Token*& at, const Token* end, Progress& progress, ast::Rule& out);

}  // namespace cepd::dsl::syntax
