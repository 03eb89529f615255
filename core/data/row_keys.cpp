#include "data/row_keys.hpp"

#include "data/product.hpp"

namespace maptree {

namespace {

constexpr std::uint64_t mask_63 = ~std::uint64_t{0} >> 1;

// A sum of products: there are fewer than 2^64.
struct Sum {
  std::uint64_t word[3] = {0, 0, 0};
  void add(const Product& product) {
    word[0] += product.low;
    const std::uint64_t high = product.high + (word[0] < product.low ? 1 : 0);  // no carry
    word[1] += high;
    word[2] += word[1] < high ? 1 : 0;
  }
};

// a + b + c, and what is carried.
std::uint64_t add(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t& carry) {
  const std::uint64_t ab = a + b, abc = ab + c;
  carry = (ab < a ? 1 : 0) + (abc < ab ? 1 : 0);
  return abc;
}

// t0 + 2^64 t1 + 2^128 t2 + 2^192 t3 mod 2^127 - 1, where t3 is small: 2^127 counts as 1.
RowKey reduce(std::uint64_t t0, std::uint64_t t1, std::uint64_t t2, std::uint64_t t3) {
  std::uint64_t carry = 0;
  RowKey key;
  key.low = add(t0, t2 << 1, t1 >> 63, carry);
  key.high = (t1 & mask_63) + (t3 << 1) + (t2 >> 63) + carry;  // below 2^64
  const std::uint64_t top = key.high >> 63;
  key.high &= mask_63;
  key.low += top;
  key.high += key.low < top ? 1 : 0;
  if (key.high == mask_63 && key.low == ~std::uint64_t{0}) key = {};
  return key;
}

}  // namespace

RowKeys::RowKeys(std::span<const RowKey> multipliers, std::size_t n_words) {
  multipliers_.reserve(n_words);
  for (std::size_t w = 0; w < n_words; ++w)
    multipliers_.push_back(multipliers[w % multipliers.size()]);
}

// The hash in counter mode.
bool RowKeys::draw(const Digest& digest_of_table, std::size_t n_words, Watch& watch) {
  multipliers_.clear();
  multipliers_.reserve(n_words);
  for (std::uint64_t counter = 0; multipliers_.size() < n_words; ++counter) {
    if (watch.poll(500)) return false;
    Blake2b hash;
    for (const std::uint64_t word : digest_of_table) hash.add(word);
    hash.add(counter);
    const Digest drawn = hash.finish();
    for (std::size_t i = 0; i < drawn.size() && multipliers_.size() < n_words; i += 2)
      multipliers_.push_back({drawn[i] & mask_63, drawn[i + 1]});
  }
  return true;
}

RowKey RowKeys::operator()(const RowSet& rows) const {
  Sum low, high;  // by halves of the multipliers
  for (std::size_t i = 0; i < rows.n_stored(); ++i) {
    const Word word = rows.stored(i);
    if (word == 0) continue;
    const RowKey& k = multipliers_[rows.place(i)];
    low.add(multiply(k.low, word));
    high.add(multiply(k.high, word));
  }
  std::uint64_t carry = 0, carry_on = 0;
  const std::uint64_t t1 = add(low.word[1], high.word[0], 0, carry);
  const std::uint64_t t2 = add(low.word[2], high.word[1], carry, carry_on);
  return reduce(low.word[0], t1, t2, high.word[2] + carry_on);
}

KeyCollision::KeyCollision()
    : std::runtime_error(
          "two different sets of rows got the same 127-bit key, so nothing can be proved. This "
          "does "
          "not happen by chance. The keys are drawn from a hash of the table: change the order of "
          "the rows or drop one, and fit again. Please report it, with the table.") {}

}  // namespace maptree
