#include "app/figures.h"

#include <doctest/doctest.h>

#include <future>

using namespace cepd;
using namespace cepd::app;
using std::chrono::steady_clock;

namespace {

Figures of(std::uint64_t events) {
  Figures figures;
  figures.events = events;
  return figures;
}

const auto kNever = steady_clock::time_point::max() - std::chrono::hours(1);

}  // namespace

TEST_CASE("figures: whoever asks gets those that were taken afterwards") {
  FigureBox box;
  box.put(of(1));
  CHECK(!box.take_request());
  std::promise<void> woken;
  auto read = std::async(std::launch::async, [&] { return box.get(kNever, [&] { woken.set_value(); }); });
  woken.get_future().wait();
  CHECK(box.take_request());
  CHECK(!box.take_request());
  box.put(of(2));
  CHECK(read.get()->events == 2);
}

TEST_CASE("figures: all that wait get the same answer, and it stays as it was for who has it") {
  FigureBox box;
  std::promise<void> first, second;
  auto a = std::async(std::launch::async, [&] { return box.get(kNever, [&] { first.set_value(); }); });
  auto b = std::async(std::launch::async, [&] { return box.get(kNever, [&] { second.set_value(); }); });
  first.get_future().wait();
  second.get_future().wait();
  CHECK(box.take_request());
  box.put(of(1));
  const auto figures = a.get();
  CHECK(b.get() == figures);
  box.put(of(2));
  CHECK(figures->events == 1);
}

TEST_CASE("figures: where nobody answers in time those of before are had, or none") {
  FigureBox box;
  CHECK(box.get(steady_clock::now(), [] {}) == nullptr);
  box.put(of(1));
  CHECK(box.get(steady_clock::now(), [] {})->events == 1);
  CHECK(box.take_request());
}

TEST_CASE("figures: nobody waits for a box that is closed") {
  FigureBox box;
  std::promise<void> woken;
  auto read = std::async(std::launch::async, [&] { return box.get(kNever, [&] { woken.set_value(); }); });
  woken.get_future().wait();
  box.close();
  CHECK(read.get() == nullptr);
  CHECK(box.get(kNever, [] {}) == nullptr);
}
