// KeyedHash: its definition, and that nobody can make rows or columns collide.
#include "data/keyed_hash.hpp"

#include <set>
#include <vector>

#include "check.hpp"
#include "problem.hpp"

using fuzz::Random;
using maptree::Blake2b;
using maptree::Dataset;
using maptree::Digest;
using maptree::Folding;
using maptree::KeyedHash;

namespace {

constexpr std::uint64_t p = (std::uint64_t{1} << 61) - 1;

// a b mod p, for a below p, a bit at a time.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  for (b %= p; b > 0; b >>= 1, a = 2 * a % p)
    if ((b & 1) != 0) out = (out + a) % p;
  return out;
}

// The state that mix() was given: both of its shifts and its products can be undone.
std::uint64_t unmix(std::uint64_t x) {
  const auto inverse = [](std::uint64_t odd) {  // modulo 2^64, by Newton's iteration
    std::uint64_t y = odd;
    for (int i = 0; i < 6; ++i) y *= 2 - odd * y;
    return y;
  };
  const auto unshift = [](std::uint64_t y, unsigned by) { return y ^ (y >> by) ^ (y >> 2 * by); };
  x = unshift(x, 31) * inverse(0x94d049bb133111ebULL);
  x = unshift(x, 27) * inverse(0xbf58476d1ce4e5b9ULL);
  return unshift(x, 30);
}

// The numbers of a table, drawn as the header says.
struct Numbers {
  explicit Numbers(const Digest& table) {
    const auto draw = [&](std::uint64_t counter) {
      Blake2b hash;
      for (const std::uint64_t word : table) hash.add(word);
      hash.add(counter);
      hash.add(std::uint64_t{64});
      return hash.finish();
    };
    a = draw(0)[0] / 16;
    b = draw(0)[1] / 16;
    for (std::size_t i = 0; i < 64; i += 8)
      for (const std::uint64_t word : draw(i + 1)) {
        s.push_back(word % (std::uint64_t{1} << 32));
        t.push_back(word >> 32);
      }
  }
  // The polynomial of the words, modulo p.
  [[nodiscard]] std::uint64_t of(const std::vector<std::uint64_t>& words) const {
    constexpr std::uint64_t half = std::uint64_t{1} << 32;
    std::uint64_t state = 0;
    for (std::size_t first = 0; first < words.size(); first += 64) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < 64 && first + i < words.size(); ++i)
        sum += (words[first + i] + s[i]) % half * (((words[first + i] >> 32) + t[i]) % half);
      state = (product(a % p, state) + product(b % p, sum % half) + sum / half) % p;
    }
    return state;
  }

  std::uint64_t a, b;
  std::vector<std::uint64_t> s, t;
};

}  // namespace

TEST(hashes_are_what_they_are_defined_to_be) {
  Random random(20);
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  for (int round = 0; round < 200; ++round) {
    const Digest table{random.next(), random.next()};
    const KeyedHash hash(table);
    const Numbers numbers(table);
    std::vector<std::uint64_t> words(
        random.one_of<std::size_t>({0, 1, 2, 63, 64, 65, 128, 129, 700}));
    for (std::size_t w = 0; w < words.size(); ++w) {
      // Among them words that add nothing, so that a block may have the sum 0.
      const std::uint64_t nothing = (std::uint64_t{1} << 32) - numbers.s[w % 64];
      words[w] = random.chance(0.4)
                     ? random.one_of<std::uint64_t>({0, 1, p, ones, nothing, nothing})
                     : random.next();
    }
    std::size_t n_asked = 0;
    const std::uint64_t found = hash(words.size(), [&](std::size_t w) {
      CHECK_EQUAL(w, n_asked++);
      return words[w];
    });
    CHECK_EQUAL(n_asked, words.size());
    CHECK_EQUAL(unmix(found) % p, numbers.of(words));
    CHECK(unmix(found) < ones / 2);
  }
}

TEST(rows_and_columns_cannot_be_made_to_collide) {
  // All would have one hash if words were mixed by a public function, as they once were: whatever
  // the first word does to the state, the second one undoes.
  constexpr std::size_t n = 2000;
  Random random(19);
  maptree::PackedTable rows(n, 128), columns(128, n);
  const auto word = [&] {
    maptree::Word bits = 0;
    for (int bit = 0; bit < 64; ++bit) bits = 2 * bits + static_cast<unsigned>(random.below(2));
    return bits;
  };
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15ULL;
  const auto target = word();
  for (std::size_t i = 0; i < n; ++i) {
    const maptree::Word first = word(), row[] = {first, target - maptree::mix(first + step)};
    for (std::size_t c = 0; c < 128; ++c)
      rows.column(c)[i / 64] |= (row[c / 64] >> (c % 64) & 1) << (i % 64);
    columns.column(i)[0] = word() << 1;  // so that it is 0 in the first row
    columns.column(i)[1] = target ^ maptree::mix(columns.column(i)[0]);
  }
  const auto make = [](maptree::PackedTable packed, Folding folding) {
    const std::vector<std::int32_t> labels(packed.n_rows, 0);
    return Dataset(std::move(packed), labels, {}, 1, folding);
  };
  const Dataset of_rows = make(rows, {true, false}), of_columns = make(columns, {false, true});
  CHECK_EQUAL(of_rows.n_distinct_rows(), n);
  CHECK_EQUAL(of_columns.n_columns(), n);
  // About one other is met for each; if all had one hash, n / 2 would be.
  CHECK(of_rows.n_probes() > 0 && of_rows.n_probes() < static_cast<std::int64_t>(4 * n));
  CHECK(of_columns.n_probes() > 0 && of_columns.n_probes() < static_cast<std::int64_t>(4 * n));
}

TEST(hashes_differ_wherever_words_do) {
  // Words that differ in few bits or by what the hash computes modulo, in a block and far apart.
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  std::vector<std::uint64_t> values = {0, p, 2 * p, 7 * p, 8 * p, ones, ones << 32, ones >> 32};
  for (int bit = 0; bit < 64; bit += 9) values.push_back(std::uint64_t{1} << bit);
  for (std::uint64_t key = 0; key < 5; ++key) {
    const KeyedHash hash(Digest{key});
    std::set<std::uint64_t> seen;
    std::size_t n = 0;
    for (const std::size_t at : {0u, 1u, 62u, 63u, 64u, 127u, 128u, 199u}) {
      for (const std::uint64_t a : values) {
        for (const std::uint64_t b : values) {
          std::vector<std::uint64_t> words(201, ones);
          words[at] = a;
          words[at + 1] = b;
          if (a == ones || b == ones) continue;  // met again elsewhere
          ++n;
          seen.insert(hash(words.size(), [&](std::size_t w) { return words[w]; }));
        }
      }
    }
    CHECK_EQUAL(seen.size(), n);
  }
}
