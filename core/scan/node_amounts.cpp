// NodeView where rows have amounts: their sums by column, and what the pair scan needs of them.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "data/transpose.hpp"
#include "scan/node_view.hpp"

namespace maptree {

namespace {

constexpr std::size_t half_bits = 32;

}  // namespace

bool NodeView::sum_columns(Watch& watch) {
  AmountBuffers& to = amounts_;
  if (watch.poll(static_cast<std::int64_t>(4 * slots_.size()))) return false;
  to.places.clear();
  std::int64_t sizes[2] = {0, 0};
  for (const std::uint32_t slot : slots_) {
    if (slot == no_slot) continue;
    to.places.push_back(slot);
    const Amounts& row = data_.amounts(slot);
    for (int v = 0; v < 2; ++v) {
      total_.amounts[v] += row.of[v];
      sizes[v] += std::abs(row.of[v]);
    }
  }
  // A sum of the first takes this many bits, with its sign.
  const auto width = [](std::int64_t x) {
    return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(x)));
  };
  const unsigned bits = width(sizes[0]) + 1;
  const bool packed = bits + width(sizes[1]) < 64;
  to.scan.shift = packed ? bits : 0;
  for (int v = 0; v < 2; ++v) {
    to.values[v].assign(packed && v == 1 ? 0 : slots_.size(), 0);
    to.listed[v].clear();
    to.raw[v].resize(raw_stride_);
  }
  for (std::size_t place = 0; place < slots_.size(); ++place) {
    if (slots_[place] == no_slot) continue;
    const Amounts& row = data_.amounts(slots_[place]);
    for (int v = 0; v < (packed ? 1 : 2); ++v) {
      to.values[v][place] =
          packed ? (row.of[1] * (std::int64_t{1} << to.scan.shift)) + row.of[0] : row.of[v];
      to.listed[v].push_back(to.values[v][place]);
    }
  }
  const auto work = static_cast<std::int64_t>(to.places.size() + 16);
  return in_parts(raw_stride_, work, watch, [&](std::size_t first, std::size_t last) {
    for (std::size_t b = first; b < last; b += lanes) {
      for (int v = 0; v < (packed ? 1 : 2); ++v)
        kernel_.sum_rows(data_.row(0) + b / 8, data_.row_bytes(), to.places.data(),
                         to.listed[v].data(), to.places.size(), &to.raw[v][b]);
      if (packed) unpack_amounts(to.scan.shift, &to.raw[0][b], &to.raw[1][b]);
      for (std::size_t c = b; c < b + lanes && c < data_.n_columns(); ++c)
        if (((first_row_[c / 8] >> (c % 8)) & 1) != 0)
          for (int v = 0; v < 2; ++v) to.raw[v][c] = total_.amounts[v] - to.raw[v][c];
    }
  });
}

bool NodeView::arrange_amounts(std::span<const std::uint32_t> order, Watch& watch) {
  AmountBuffers& to = amounts_;
  const std::size_t stride = stride_of(order.size());
  for (int v = 0; v < 2; ++v) {
    to.one[v].assign(stride, 0);
    to.both[v].assign(n_at_once_ * stride, 0);
    for (std::size_t p = 0; p < order.size(); ++p)
      to.one[v][p] = to.raw[v][columns_[order[p]].dataset];
    to.listed[v].resize(slots_.size());
    to.scan.values[v] = to.values[v].data();
    to.scan.listed[v] = to.listed[v].data();
    to.scan.one[v] = to.one[v].data();
    to.scan.both[v] = to.both[v].data();
    to.scan.total[v] = total_.amounts[v];
  }
  to.places.resize(slots_.size());
  to.scan.places = to.places.data();
  to.scan.row_bytes = stride / 8;
  to.rows.resize(slots_.size() * to.scan.row_bytes);
  to.scan.rows = to.rows.data();
  std::uint32_t tile[half_bits];
  for (std::size_t w = 0; w < n_half_words(); ++w) {
    if (watch.poll(static_cast<std::int64_t>(2 * stride + half_bits))) return false;
    for (std::size_t first = 0; first < stride; first += half_bits) {
      const std::size_t n = std::min(half_bits, stride - first);
      std::fill(std::begin(tile), std::end(tile), 0u);
      std::copy_n(&words_[w * stride + first], n, tile);
      transpose_blocks<1>(tile);
      for (std::size_t r = 0; r < half_bits; ++r)
        std::memcpy(&to.rows[(w * half_bits + r) * to.scan.row_bytes + first / 8], &tile[r], n / 8);
    }
  }
  return true;
}

}  // namespace maptree
