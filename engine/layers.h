#pragma once
/// Partial matches whose cells lie in layers: of a sequence A THEN ANY B THEN ANY C all cells of C hang on one list of
/// cells of B, as it was at their events, and those on one list of cells of A. What hangs on an older cell then hangs
/// on a newer one too. So the match that is taken first (taken_before() in engine/run.h) stands at the old ends of the
/// lists, and walking up from there visits all of them in that order, without looking at what does not count.

#include <span>
#include <vector>

#include "engine/match_set.h"

namespace cepd::engine {

/// Keeps its memory from one use to the next.
class Layers {
 public:
  /// Of a cell in its place: it and what hangs below lie in layers.
  static bool fits(const Cell& cell);
  /// The cells through which a match goes alone, whatever set they are of, lie in layers. Under a floor only first
  /// events do.
  static bool below(const Cell& cell) {
    if (cell.event == nullptr) return false;
    if (cell.before == nullptr) return true;
    return cell.before->layered && (cell.floor == 0 || cell.before->before == nullptr);
  }
  /// The old end of the list that `cell.before` is of, or where its floor ends it.
  static const Cell* oldest_before(const Cell& cell);
  /// The cell of the earliest first event of a partial match that counts; null: none does. Requires head.layered;
  /// `oldest`: the old end of its list.
  static const Cell* oldest_first(const Cell& head, const Cell* oldest, const Alive& alive);

  /// Looks at the partial matches through that cell alone. False: none counts. Requires below(cell), and that nothing
  /// is added, cut or marked while they are looked at.
  bool look(const Cell& cell, const Alive& alive);
  /// The first one.
  std::span<const Bound> first();
  /// Calls `visit(std::span<const Bound>)` with each of them, in order; where it returns false those with the same
  /// first event are left out from there on.
  template <class Visit>
  void each(const Alive& alive, const Visit& visit);

 private:
  struct Layer {
    const Cell* first;  ///< of the first partial match
    const Cell* top;    ///< the newest that something in the next layer hangs on
    const Cell* at;     ///< null: all have been visited
    const Cell* from;   ///< the oldest that comes after the present first event and those after it
    bool from_known = false;
  };
  static const Cell* newest_unused(SetPart part, const Alive& alive);
  static const Cell* after(const Cell* cell, const Cell& earlier) {
    while (cell->event->sequence <= earlier.event->sequence) cell = cell->newer;
    return cell;
  }
  static bool counts(const Cell& cell, const Alive& alive) {
    return !alive.is_used(*cell.event) && (cell.before != nullptr || alive.start(Start::of(*cell.event)));
  }

  std::vector<Layer> layers_;  // the first events' one first
  std::vector<Bound> path_;
};

template <class Visit>
void Layers::each(const Alive& alive, const Visit& visit) {
  const std::size_t last = layers_.size() - 1;
  path_.resize(layers_.size());
  layers_[0].at = layers_[0].first;
  for (Layer& layer : layers_) layer.from = layer.first;
  std::size_t depth = 0;
  while (true) {
    Layer& layer = layers_[depth];
    if (layer.at == nullptr) {
      if (depth == 0) return;
      --depth;
      continue;
    }
    const Cell& cell = *layer.at;
    layer.at = &cell == layer.top ? nullptr : cell.newer;
    if (!counts(cell, alive)) continue;
    path_[depth] = {cell.element, cell.event.get()};
    if (depth == last) {
      if (!visit(std::span<const Bound>(path_))) depth = 0;
      continue;
    }
    if (depth == 0) {
      for (Layer& each : layers_) each.from_known = false;
    }
    Layer& next = layers_[++depth];
    next.at = after(next.from, cell);
    // The first one of this first event is the oldest of all to come.
    if (!next.from_known) next.from = next.at;
    next.from_known = true;
  }
}

}  // namespace cepd::engine
