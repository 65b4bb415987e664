#include "tests/reference/random_condition.h"

#include <utility>

#include "tests/reference/build_ast.h"

namespace cepd::reference {

using namespace build;

ast::BinaryOp RandomCondition::comparison() {
  using ast::BinaryOp;
  return random_.one_of(std::vector<BinaryOp>{BinaryOp::kEq, BinaryOp::kEq, BinaryOp::kNe, BinaryOp::kLt, BinaryOp::kLe,
                                              BinaryOp::kGt, BinaryOp::kGe});
}

std::string RandomCondition::some_field() { return random_.chance(70) ? "v" : "w"; }

ast::ExprPtr RandomCondition::some_number(std::int64_t low, std::int64_t high) {
  return few_ && random_.chance(25) ? constant(*few_) : number(random_.between(low, high));
}

ast::ExprPtr RandomCondition::aggregate(const std::string& element) {
  const std::string of = some_field();
  switch (random_.below(9)) {
    case 0:
      return call("count", {field(element)});
    case 1:
      return call("sum", {field(element, of)});
    case 2:
      return call("avg", {field(element, of)});
    case 3:
      return call("min", {field(element, of)});
    case 4:
      return call("max", {field(element, of)});
    case 5:
      return call("distinct", {field(element, of)});
    case 6:
      return call("first", {field(element, of)});
    case 7:
      return call("last", {field(element, of)});
    default:
      return path({element, random_.between(-2, 1), of});
  }
}

ast::ExprPtr RandomCondition::simple(const std::vector<std::string>& names, const std::optional<std::string>& own,
                                     Place place) {
  const ast::ExprPtr tested = field(some_field());
  if (own && random_.chance(35)) {
    if (random_.chance(40)) return binary(ast::BinaryOp::kLt, call("count", {field(*own)}), some_number(1, 3));
    return binary(comparison(), tested, call("coalesce", {aggregate(*own), some_number(0, 2)}));
  }
  if (!names.empty() && random_.chance(50)) {
    const std::string& other = random_.one_of(names);
    switch (random_.below(4)) {
      case 0:
        return binary(comparison(), tested, aggregate(other));
      case 1:
        return binary(comparison(), tested,
                      binary(random_.chance(50) ? ast::BinaryOp::kAdd : ast::BinaryOp::kSub, field(other, some_field()),
                             number(1)));
      default:
        return binary(comparison(), tested, field(other, some_field()));
    }
  }
  switch (random_.below(8)) {
    case 0:
      return is_null(tested, random_.chance(50));
    case 1:
      return expr(ast::In{tested, {some_number(0, 3), some_number(0, 3)}, random_.chance(30)});
    case 2:
      return expr(ast::Between{tested, some_number(0, 1), some_number(1, 3), random_.chance(20)});
    case 3:
      if (place == Place::kOutside) break;
      if (place == Place::kLater) return binary(comparison(), tested, call("prev", {field(some_field())}));
      return binary(comparison(), tested, call("coalesce", {call("prev", {field("v")}), number(1)}));
    case 4:
      if (place != Place::kLater) break;
      return binary(ast::BinaryOp::kLe, binary(ast::BinaryOp::kSub, field("ts"), call("prev", {field("ts")})),
                    duration(std::chrono::seconds(random_.between(1, 3))));
    default:
      break;
  }
  return binary(comparison(), tested, some_number(0, 3));
}

ast::ExprPtr RandomCondition::in_brackets(const std::vector<std::string>& names, const std::optional<std::string>& own,
                                          Place place) {
  ast::ExprPtr out = simple(names, own, place);
  if (random_.chance(12)) out = negated(out);
  if (random_.chance(15)) {
    out = binary(random_.chance(50) ? ast::BinaryOp::kAnd : ast::BinaryOp::kOr, out, simple(names, own, place));
  }
  return out;
}

ast::ExprPtr RandomCondition::correlated(const std::vector<std::string>& names) {
  if (!equal_) equal_ = some_field();
  const std::string& other = names[random_.chance(85) ? 0 : random_.below(names.size())];
  ast::ExprPtr tested = field(random_.chance(80) ? *equal_ : some_field()), of = field(other, *equal_);
  if (random_.chance(30)) std::swap(tested, of);
  ast::ExprPtr out = binary(ast::BinaryOp::kEq, tested, of);
  if (random_.chance(15)) out = binary(ast::BinaryOp::kAnd, simple(names, {}, Place::kOutside), out);
  return out;
}

ast::ExprPtr RandomCondition::between(const std::string& one, const std::string& other) {
  return binary(comparison(), field(one, some_field()), field(other, some_field()));
}

ast::ExprPtr RandomCondition::part(const std::vector<std::string>& names) {
  const std::size_t last = random_.below(names.size());
  const ast::ExprPtr tested = field(names[last], some_field());
  if (last == 0 || random_.chance(30)) return binary(comparison(), tested, some_number(0, 3));
  const std::string& other = names[random_.below(last)];
  if (random_.chance(20)) return binary(comparison(), tested, aggregate(other));
  ast::ExprPtr out = between(names[last], other);
  if (random_.chance(15)) out = binary(ast::BinaryOp::kOr, out, is_null(field(other, "w"), random_.chance(50)));
  if (random_.chance(10)) out = negated(out);
  return out;
}

ast::ExprPtr RandomCondition::of_match(const std::vector<std::string>& names,
                                       const std::optional<std::string>& key_field) {
  if (names.empty()) return key_field ? binary(comparison(), field(*key_field), number(1)) : nullptr;
  return binary(comparison(), random_.chance(50) ? aggregate(random_.one_of(names)) : field(random_.one_of(names), "v"),
                random_.chance(60) ? some_number(0, 3) : field(random_.one_of(names), some_field()));
}

ast::ExprPtr RandomCondition::value_of_match(const std::string& element) {
  const std::uint64_t kind = random_.below(10);
  if (kind < 3) return field(element, some_field());
  if (kind < 4) return call("collect", {field(element, some_field())});
  if (kind < 5) {
    return binary(random_.one_of(std::vector<ast::BinaryOp>{ast::BinaryOp::kAdd, ast::BinaryOp::kMul,
                                                            ast::BinaryOp::kDiv, ast::BinaryOp::kMod}),
                  field(element, "v"), field(element, "w"));
  }
  return aggregate(element);
}

}  // namespace cepd::reference
