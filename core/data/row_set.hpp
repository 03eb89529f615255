// RowSet: a set of rows as packed bits, one bit a slot of the Dataset.
//
// Slots are grouped in segments that start at a word boundary; slots that hold no row are never
// set, so counting needs no tail mask. Sets of one dataset all have the same number of words.
//
// Where nearly all words are empty only the others are stored, with their places: deep in a tree
// over a million rows a set has a hundred rows, and must not cost a million bits. A set of either
// form takes n_words() words at most.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace maptree {

using Word = std::uint64_t;
inline constexpr std::size_t word_bits = 64;

[[nodiscard]] constexpr std::size_t words_for(std::size_t bits) {
  return (bits + word_bits - 1) / word_bits;
}

// Without flags for a newer processor std::popcount is a call into the compiler's library.
[[nodiscard]] constexpr int popcount(Word x) {
  x -= (x >> 1) & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
  return static_cast<int>((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u) >> 56);
}

// The bits that two runs of words have in common. Counts of bytes are added up before they are
// added across: compilers make vector instructions of that, which they do not of a popcount.
[[nodiscard]] inline std::int64_t count_both(const Word* a, const Word* b, std::size_t n) {
  if (n == 1) return popcount(a[0] & b[0]);
  constexpr std::size_t most = 31;  // words, until a byte could overflow
  std::int64_t count = 0;
  for (std::size_t first = 0; first < n; first += most) {
    const std::size_t end = std::min(n, first + most);
    Word bytes = 0;
    for (std::size_t i = first; i < end; ++i) {
      Word x = a[i] & b[i];
      x -= (x >> 1) & 0x5555555555555555u;
      x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
      bytes += (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    }
    bytes = (bytes & 0x00FF00FF00FF00FFu) + ((bytes >> 8) & 0x00FF00FF00FF00FFu);
    count += static_cast<std::int64_t>((bytes * 0x0001000100010001u) >> 48);
  }
  return count;
}

class RowSet {
 public:
  RowSet() = default;
  explicit RowSet(std::size_t n_words) : n_words_(n_words), words_(n_words, 0) {}

  [[nodiscard]] std::size_t n_words() const { return n_words_; }
  // The words that are stored, in order: all, or those that are not empty.
  [[nodiscard]] std::size_t n_stored() const { return words_.size(); }
  [[nodiscard]] Word stored(std::size_t i) const { return words_[i]; }
  [[nodiscard]] std::size_t place(std::size_t i) const { return places_.empty() ? i : places_[i]; }
  [[nodiscard]] std::span<const Word> words() const { return words_; }  // all of the stored ones
  [[nodiscard]] bool sparse() const { return words_.size() != n_words_; }

  [[nodiscard]] Word word(std::size_t w) const {
    if (!sparse()) return words_[w];
    const auto at = std::lower_bound(places_.begin(), places_.end(), w);
    return at != places_.end() && *at == w ? words_[static_cast<std::size_t>(at - places_.begin())]
                                           : 0;
  }
  void insert(std::size_t slot) {
    assert(!sparse());
    words_[slot / word_bits] |= Word{1} << (slot % word_bits);
  }

  // This set becomes the rows of `from` where `column` is 1 (side 1) or 0 (side 0).
  void assign_side(const RowSet& from, const Word* column, int side) {
    const Word flip = side == 1 ? 0 : ~Word{0};
    n_words_ = from.n_words_;
    if (from.sparse() || mostly_empty(from, column, flip)) {
      assign_sparse(from, column, flip);
      return;
    }
    places_ = {};
    words_.resize(n_words_);
    for (std::size_t w = 0; w < n_words_; ++w) words_[w] = from.words_[w] & (column[w] ^ flip);
  }
  // The same for words that take some time to make: keep(place, word) is what is left of a word.
  template <class Keep>
  void assign_words(const RowSet& from, Keep&& keep) {
    n_words_ = from.n_words_;
    words_.clear();
    places_.clear();
    std::size_t n = 0;
    for (std::size_t i = 0; i < from.words_.size(); ++i) {
      const std::size_t w = from.place(i);
      const Word word = from.words_[i] == 0 ? 0 : keep(w, from.words_[i]);
      n += word != 0 ? 1 : 0;
      if (from.sparse() && word == 0) continue;
      words_.push_back(word);
      if (from.sparse()) places_.push_back(static_cast<std::uint32_t>(w));
    }
    if (sparse() || n_words_ < least_words || n > n_words_ / empty_share) return;
    for (std::size_t w = 0, to = 0; w < n_words_; ++w) {
      if (words_[w] == 0) continue;
      words_[to++] = words_[w];
      places_.push_back(static_cast<std::uint32_t>(w));
    }
    words_.resize(n);
    words_.shrink_to_fit();
  }

 private:
  // Below that many words there is nothing to gain.
  static constexpr std::size_t least_words = 128;
  static constexpr std::size_t empty_share = 8;  // at most one word in this number is stored

  [[nodiscard]] static bool mostly_empty(const RowSet& from, const Word* column, Word flip) {
    if (from.n_words_ < least_words) return false;
    std::size_t n = 0;
    for (std::size_t w = 0; w < from.n_words_; ++w)
      n += (from.words_[w] & (column[w] ^ flip)) != 0 ? 1 : 0;
    return n <= from.n_words_ / empty_share;
  }

  void assign_sparse(const RowSet& from, const Word* column, Word flip) {
    if (words_.capacity() > n_words_ / empty_share) words_ = {};
    words_.clear();
    places_.clear();
    for (std::size_t i = 0; i < from.words_.size(); ++i) {
      const std::size_t w = from.place(i);
      const Word word = from.words_[i] & (column[w] ^ flip);
      if (word == 0) continue;
      words_.push_back(word);
      places_.push_back(static_cast<std::uint32_t>(w));
    }
  }

  std::size_t n_words_ = 0;
  std::vector<Word> words_;
  std::vector<std::uint32_t> places_;  // of the words; empty where all are stored
};

// Calls visit(slot) for every set bit, in increasing order.
template <class Visit>
void for_each_slot(Word word, std::size_t first_slot, Visit&& visit) {
  for (; word != 0; word &= word - 1)
    visit(first_slot + static_cast<std::size_t>(std::countr_zero(word)));
}

}  // namespace maptree
