#include "dsl/bounds.h"

#include <string>

namespace cepd::dsl::syntax {
namespace {

class Bounds {
 public:
  explicit Bounds(Problems& problems) : problems_(problems) {}

  void operator()(const ast::EventDecl& event) {
    most(event.fields.size(), kMaxListed, event.name.where, "an EVENT has at most ", " fields");
  }
  void operator()(const ast::ConstDecl&) {}
  void operator()(const ast::Rule& rule) {
    most(rule.key.size(), kMaxKeyFields, rule.name.where, "KEY has at most ", " fields");
    if (rule.from) most(rule.from->inputs.size(), kMaxListed, rule.from->where, "FROM has at most ", " events");
    most(rule.unless.size(), kMaxUnless, rule.name.where, "UNLESS has at most ", " events");
    if (rule.emit) emit(*rule.emit);
    most(rule.labels.size(), kMaxListed, rule.name.where, "LABELS has at most ", " labels");
    actions(rule.actions, rule.name.where);
    if (!rule.on_timeout) return;
    if (rule.on_timeout->emit) emit(*rule.on_timeout->emit);
    actions(rule.on_timeout->actions, rule.on_timeout->where);
  }
  void operator()(const ast::Test& test) {
    for (const ast::TestStage& stage : test.stages) {
      for (const ast::Expected& expected : stage.expected) {
        most(expected.fields.fields.size(), kMaxListed, expected.where, "what is expected has at most ", " fields");
      }
    }
  }

  bool kept() const { return kept_; }

 private:
  void emit(const ast::Emit& emit) {
    most(emit.items.size(), kMaxListed, emit.items.front().where, "EMIT has at most ", " items");
  }
  void actions(const std::vector<ast::Action>& actions, ast::Location where) {
    most(actions.size(), kMaxListed, where, "DO has at most ", " actions");
    for (const ast::Action& action : actions) {
      most(action.arguments.size(), kMaxListed, action.where, "an action has at most ", " arguments");
    }
  }

  void most(std::size_t count, std::size_t most, ast::Location where, const char* what, const char* of) {
    if (count <= most) return;
    problems_.add(where, what + std::to_string(most) + of + ", not " + std::to_string(count));
    kept_ = false;
  }

  Problems& problems_;
  bool kept_ = true;
};

}  // namespace

bool within_bounds(const ast::Statement& statement, Problems& problems) {
  Bounds bounds(problems);
  std::visit(bounds, statement);
  return bounds.kept();
}

}  // namespace cepd::dsl::syntax
