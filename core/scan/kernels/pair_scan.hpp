// The pair scan, written once over a type of eight lanes and compiled once per instruction set.
//
// Lanes has I32 and I64 (eight values each) and static functions on them: load, store, splat,
// add, sub, min, max, scale, widen, gather, at_least and where_positive (choices), after, least,
// sum; popcount_block, which counts R masked copies of a block of columns; and sum_rows
// (pair_kernel.hpp). Only plain arrays
// and no inline function of the standard library are used here: the linker keeps one copy of such a
// function, and it must not be one for a newer processor.
#pragma once

#include "scan/pair_kernel.hpp"

namespace maptree {
namespace {

constexpr std::size_t width = 8;
constexpr std::int64_t never = std::int64_t{1} << 61;  // Cost::infinity()

// The bits of every byte as masks.
struct ByteMasks {
  std::int64_t of[256][8];
  constexpr ByteMasks() : of() {
    for (int byte = 0; byte < 256; ++byte)
      for (int bit = 0; bit < 8; ++bit) of[byte][bit] = ((byte >> bit) & 1) != 0 ? -1 : 0;
  }
};

// PairKernel::sum_rows for processors whose vectors have no masks.
[[maybe_unused]] void sum_by_masks(const std::uint8_t* rows, std::size_t row_bytes,
                                   const std::uint32_t* places, const std::int64_t* values,
                                   std::size_t n, std::int64_t* sums) {
  static constexpr ByteMasks masks;
  std::int64_t sum[lanes] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t* const bits = rows + row_bytes * places[i];
    for (std::size_t byte = 0; byte < lanes / 8; ++byte)
      for (std::size_t l = 0; l < 8; ++l) sum[8 * byte + l] += masks.of[bits[byte]][l] & values[i];
  }
  for (std::size_t l = 0; l < lanes; ++l) sums[l] = sum[l];
}

// `out` for the r-th of several rows of a scan.
inline PairCounts row_of(const PairScan& s, const PairCounts& out, std::size_t r) {
  const std::size_t classes = static_cast<std::size_t>(s.n_classes) * s.stride;
  return {out.classes + r * classes, out.distinct + r * s.stride, out.rest + r * classes,
          out.groups + r * s.stride};
}

// Adds the counts of a block of columns, with a multiplicity, to R rows.
template <class L, std::size_t R>
void add_weighed(const std::int32_t (&n)[R][lanes], std::int32_t weight, std::int32_t* to,
                 std::size_t step) {
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t h = 0; h < lanes; h += width) {
      const auto rows = L::load(n[r] + h);
      std::int32_t* const at = to + r * step + h;
      L::store(at, L::add(L::load(at), weight == 1 ? rows : L::scale(rows, weight)));
    }
  }
}

// Counts the columns `first` to `last` (multiples of `lanes`), where each of the R columns at
// `mask` is one. Several masks at once, because the same words are then loaded once for all.
// Runs of one pattern are popcounted, then weighed; without folded rows a class is one run.
template <class L, std::size_t R>
void count(const PairScan& s, const std::uint32_t* mask, std::size_t first, std::size_t last,
           const PairCounts& out) {
  const auto n_classes = static_cast<std::size_t>(s.n_classes);
  const bool grouped = s.grouped && !s.leaves_only;
  std::int32_t n[R][lanes];
  for (std::size_t b = first; b < last; b += lanes) {
    if (!s.folded) {
      for (std::size_t i = 0; i < s.n_runs; ++i) {
        const PairRun& run = s.runs[i];
        L::template popcount_block<R>(s.words + b, s.stride, mask, run.first, run.last, n);
        for (std::size_t r = 0; r < R; ++r) {
          const auto row = static_cast<std::size_t>(run.unit_class) + r * n_classes;
          for (std::size_t h = 0; h < lanes; h += width)
            L::store(out.classes + row * s.stride + b + h, L::load(n[r] + h));
        }
      }
      continue;
    }
    for (std::size_t r = 0; r < R; ++r) {
      const PairCounts to = row_of(s, out, r);
      for (std::size_t h = b; h < b + lanes; h += width) {
        L::store(to.distinct + h, L::splat32(0));
        if (grouped) L::store(to.groups + h, L::splat64(0));
        for (std::size_t k = 0; k < n_classes; ++k) {
          L::store(to.classes + k * s.stride + h, L::splat32(0));
          if (grouped) L::store(to.rest + k * s.stride + h, L::splat32(0));
        }
      }
    }
    for (std::size_t i = 0; i < s.n_runs; ++i) {
      const PairRun& run = s.runs[i];
      L::template popcount_block<R>(s.words + b, s.stride, mask, run.first, run.last, n);
      add_weighed<L, R>(n, 1, out.distinct + b, s.stride);
      for (std::size_t p = 0; p < run.n_classes; ++p) {
        const std::int32_t weight = run.pattern[p].weight;
        const std::size_t at = static_cast<std::size_t>(run.pattern[p].k) * s.stride + b;
        add_weighed<L, R>(n, weight, out.classes + at, n_classes * s.stride);
        if (grouped && run.group_floor == 0)
          add_weighed<L, R>(n, weight, out.rest + at, n_classes * s.stride);
      }
      if (!grouped || run.group_floor == 0) continue;
      for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t h = 0; h < lanes; h += width) {
          std::int64_t* const at = out.groups + r * s.stride + b + h;
          const auto rows = L::widen(L::load(n[r] + h));
          L::store(at, L::add(L::load(at), L::scale(rows, run.group_floor)));
        }
      }
    }
  }
}

// Of the counts over the node, over i, over j and over both, those of the four quadrants
// q = 2 * (value of i) + (value of j), the grandchildren of the pair.
template <class L, class T>
void quadrants(T total, T of_i, T of_j, T both, T* q) {
  q[3] = both;
  q[2] = L::sub(of_i, both);
  q[1] = L::sub(of_j, both);
  q[0] = L::sub(L::sub(total, of_i), q[1]);
}

// Fills a row of `both` of the amounts, for the columns `first` to `last`, where column i is one.
template <class L>
void sum_with(const PairScan& s, std::size_t i, std::size_t first, std::size_t last,
              std::size_t row) {
  const PairAmounts& amounts = *s.amounts;
  std::size_t n = 0;
  const int n_values = amounts.shift > 0 ? 1 : 2;
  const std::uint32_t n_words = s.n_runs > 0 ? s.runs[s.n_runs - 1].last : 0;
  for (std::uint32_t w = 0; w < n_words; ++w) {
    for (std::uint32_t bits = s.words[w * s.stride + i]; bits != 0; bits &= bits - 1) {
      const std::uint32_t place = 32 * w + static_cast<std::uint32_t>(__builtin_ctz(bits));
      amounts.places[n] = place;
      for (int v = 0; v < n_values; ++v) amounts.listed[v][n] = amounts.values[v][place];
      ++n;
    }
  }
  for (std::size_t b = first; b < last; b += lanes) {
    std::int64_t* const to[] = {amounts.both[0] + row * s.stride + b,
                                amounts.both[1] + row * s.stride + b};
    for (int v = 0; v < n_values; ++v)
      L::sum_rows(amounts.rows + b / 8, amounts.row_bytes, amounts.places, amounts.listed[v], n,
                  to[v]);
    if (amounts.shift > 0) unpack_amounts(amounts.shift, to[0], to[1]);
  }
}

// The part of the amounts in what the four quadrants cost as leaves; `n` are their rows.
template <class L>
void add_amounts(const PairScan& s, std::size_t i, std::size_t j, std::size_t row,
                 const typename L::I32 (&n)[4], typename L::I64 (&leaf)[4]) {
  const PairAmounts& amounts = *s.amounts;
  std::int32_t rows[4 * width];
  std::int64_t sums[2][4 * width], costs[4 * width];
  for (int q = 0; q < 4; ++q) L::store(rows + q * width, n[q]);
  for (int v = 0; v < 2; ++v) {
    typename L::I64 of[4];
    quadrants<L>(L::splat64(amounts.total[v]), L::splat64(amounts.one[v][i]),
                 L::load(amounts.one[v] + j), L::load(amounts.both[v] + row * s.stride + j), of);
    for (int q = 0; q < 4; ++q) L::store(sums[v] + q * width, of[q]);
  }
  amounts.costs.template costs<4 * width>(rows, sums[0], sums[1], costs);
  for (int q = 0; q < 4; ++q) leaf[q] = L::add(leaf[q], L::load(costs + q * width));
}

// Column i against the later ones among `first` to `last`, `both` being the counts where i and the
// other are one.
template <class L, bool Folded, bool TwoClass, bool LeavesOnly, bool Weighted>
void evaluate_row(const PairScan& s, std::size_t i, std::size_t first, std::size_t last,
                  const PairCounts& both, [[maybe_unused]] std::size_t row) {
  using I32 = typename L::I32;
  using I64 = typename L::I64;

  const auto n_classes = static_cast<std::size_t>(s.n_classes);
  const I32 one = L::splat32(1), min_leaf = L::splat32(s.min_leaf);
  const I32 splittable = L::splat32(2 * s.min_leaf), cap = L::splat32(s.floor_cap);
  const I64 zero = L::splat64(0), infinite = L::splat64(never);
  const I64 stop_lower = L::splat64(s.stop_lower), stop_upper = L::splat64(s.stop_upper);
  const I32 copies_i = L::splat32(s.multiplicity[i]);
  const I64 test_i = L::splat64(Weighted ? s.test_cost[i] : 0);
  I64 lower[2] = {infinite, infinite}, upper[2] = {infinite, infinite};
  I32 varying[2] = {L::splat32(0), L::splat32(0)};

  const std::size_t after_i = (i + 1) / width * width;
  for (std::size_t j = after_i > first ? after_i : first; j < last; j += width) {
    // Weight, and what the classes cost in leaves of their own and in one leaf (posterior.hpp).
    I32 n[4], c[4];
    I64 pure[4], leaf[4];
    if constexpr (TwoClass) {
      const std::int32_t *const of0 = s.one.classes, *const of1 = of0 + s.stride;
      quadrants<L>(L::splat32(s.total.classes[0]), L::splat32(of0[i]), L::load(of0 + j),
                   L::load(both.classes + j), c);
      quadrants<L>(L::splat32(s.total.classes[1]), L::splat32(of1[i]), L::load(of1 + j),
                   L::load(both.classes + s.stride + j), n);
      for (int q = 0; q < 4; ++q) {
        I32 at = L::add(L::scale(c[q], s.two_class_stride), n[q]);
        at = L::add(at, at);
        n[q] = L::add(n[q], c[q]);
        if constexpr (!LeavesOnly) pure[q] = L::gather(s.two_class, at);
        leaf[q] = L::gather(s.two_class + 1, at);
      }
    } else {
      for (int q = 0; q < 4; ++q) {
        n[q] = L::splat32(0);
        leaf[q] = pure[q] = zero;
      }
      for (std::size_t k = 0; k < n_classes; ++k) {
        const std::int32_t* const of = s.one.classes + k * s.stride;
        quadrants<L>(L::splat32(s.total.classes[k]), L::splat32(of[i]), L::load(of + j),
                     L::load(both.classes + k * s.stride + j), c);
        for (int q = 0; q < 4; ++q) {
          n[q] = L::add(n[q], c[q]);
          leaf[q] = L::sub(leaf[q], L::gather(s.mixed[k], c[q]));
          if constexpr (!LeavesOnly) pure[q] = L::add(pure[q], L::gather(s.pure[k], c[q]));
        }
      }
      for (int q = 0; q < 4; ++q) leaf[q] = L::add(leaf[q], L::gather(s.rising, n[q]));
      if (s.amounts != nullptr) add_amounts<L>(s, i, j, row, n, leaf);
    }
    I32 rows[4];  // distinct rows, where they are known
    if constexpr (Folded) {
      quadrants<L>(L::splat32(*s.total.distinct), L::splat32(s.one.distinct[i]),
                   L::load(s.one.distinct + j), L::load(both.distinct + j), rows);
      if (!LeavesOnly && s.grouped) {
        I64 apart[4];
        quadrants<L>(L::splat64(*s.total.groups), L::splat64(s.one.groups[i]),
                     L::load(s.one.groups + j), L::load(both.groups + j), apart);
        for (std::size_t k = 0; k < n_classes; ++k) {
          const std::int32_t* const of = s.one.rest + k * s.stride;
          quadrants<L>(L::splat32(s.total.rest[k]), L::splat32(of[i]), L::load(of + j),
                       L::load(both.rest + k * s.stride + j), c);
          for (int q = 0; q < 4; ++q) apart[q] = L::add(apart[q], L::gather(s.pure[k], c[q]));
        }
        for (int q = 0; q < 4; ++q) pure[q] = L::max(pure[q], apart[q]);
      }
    } else {
      for (int q = 0; q < 4; ++q) rows[q] = n[q];
    }

    // Lower bound and leaf cost of each grandchild (bounds.hpp); infinite where it is too small to
    // be a leaf.
    I64 low[4], high[4];
    for (int q = 0; q < 4; ++q) {
      if constexpr (!LeavesOnly) {
        const I64 split = L::add(L::gather(s.floor, L::min(rows[q], cap)), pure[q]);
        const I64 stop = L::add(leaf[q], L::at_least(one, rows[q], zero, stop_lower));
        low[q] = L::min(stop, L::at_least(n[q], splittable, split, infinite));
        low[q] = L::at_least(n[q], min_leaf, low[q], infinite);
      }
      high[q] = L::add(leaf[q], L::at_least(one, rows[q], zero, stop_upper));
      high[q] = L::at_least(n[q], min_leaf, high[q], infinite);
    }

    // Child (i, 1) split by j has the parts 3 and 2, child (j, 1) split by i 3 and 1, and so on.
    // A lane with j <= i repeats a pair: harmless to a minimum, masked in the count of columns.
    const I32 copies_j = L::after(i, j, L::load(s.multiplicity + j));
    const I32 copies = L::after(i, j, copies_i);
    I64 test_j = zero;
    if constexpr (Weighted) test_j = L::load(s.test_cost + j);
    const auto split = [](I64 a, I64 b, I64 test) {
      if constexpr (Weighted) return L::add(L::add(a, b), test);
      return L::add(a, b);
    };
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t same = 3 * side, of_i = side + 1, of_j = 2 - side;
      if constexpr (!LeavesOnly) {
        lower[side] = L::min(lower[side], split(low[same], low[of_i], test_j));
        std::int64_t* const lower_j = s.lower[side] + j;
        L::store(lower_j, L::min(L::load(lower_j), split(low[same], low[of_j], test_i)));
      }
      upper[side] = L::min(upper[side], split(high[same], high[of_i], test_j));
      std::int64_t* const upper_j = s.upper[side] + j;
      L::store(upper_j, L::min(L::load(upper_j), split(high[same], high[of_j], test_i)));
      const I32 both_i = L::min(n[same], n[of_i]), both_j = L::min(n[same], n[of_j]);
      varying[side] = L::add(varying[side], L::where_positive(both_i, copies_j));
      std::int32_t* const varying_j = s.varying[side] + j;
      L::store(varying_j, L::add(L::load(varying_j), L::where_positive(both_j, copies)));
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    if constexpr (!LeavesOnly) {
      const std::int64_t low = L::least(lower[side]);
      if (low < s.lower[side][i]) s.lower[side][i] = low;
    }
    const std::int64_t high = L::least(upper[side]);
    if (high < s.upper[side][i]) s.upper[side][i] = high;
    s.varying[side][i] += L::sum(varying[side]);
  }
}

template <class L, bool LeavesOnly, bool Weighted>
void evaluate(const PairScan& s, std::size_t i, std::size_t first, std::size_t last,
              const PairCounts& both, std::size_t row) {
  const bool two_class = s.two_class != nullptr;
  if (s.folded)
    two_class ? evaluate_row<L, true, true, LeavesOnly, Weighted>(s, i, first, last, both, row)
              : evaluate_row<L, true, false, LeavesOnly, Weighted>(s, i, first, last, both, row);
  else
    two_class ? evaluate_row<L, false, true, LeavesOnly, Weighted>(s, i, first, last, both, row)
              : evaluate_row<L, false, false, LeavesOnly, Weighted>(s, i, first, last, both, row);
}

template <class L, bool Weighted>
void evaluate(const PairScan& s, std::size_t i, std::size_t first, std::size_t last,
              const PairCounts& both, std::size_t row) {
  s.leaves_only ? evaluate<L, true, Weighted>(s, i, first, last, both, row)
                : evaluate<L, false, Weighted>(s, i, first, last, both, row);
}

template <class L, std::size_t R>
void scan_some(const PairScan& s, std::size_t i, std::size_t first, std::size_t last) {
  count<L, R>(s, s.words + i, first, last, s.both);
  for (std::size_t r = 0; r < R; ++r) {
    const PairCounts both = row_of(s, s.both, r);
    if (s.amounts != nullptr) sum_with<L>(s, i + r, first, last, r);
    s.test_cost == nullptr ? evaluate<L, false>(s, i + r, first, last, both, r)
                           : evaluate<L, true>(s, i + r, first, last, both, r);
  }
}

template <class L>
void scan_rows(const PairScan& s, std::size_t i, std::size_t n, std::size_t first,
               std::size_t last) {
  const std::size_t block = i / lanes * lanes;
  if (first < block) first = block;
  for (; n >= rows_at_once; i += rows_at_once, n -= rows_at_once)
    scan_some<L, rows_at_once>(s, i, first, last);
  for (; n > 0; ++i, --n) scan_some<L, 1>(s, i, first, last);
}

template <class L>
void count_columns(const PairScan& s, const PairCounts& out, std::size_t first, std::size_t last) {
  count<L, 1>(s, nullptr, first, last, out);
}

template <class L>
void count_with(const PairScan& s, std::size_t i, std::size_t first, std::size_t last) {
  count<L, 1>(s, s.words + i, first, last, s.both);
  if (s.amounts != nullptr) sum_with<L>(s, i, first, last, 0);
}

}  // namespace
}  // namespace maptree
