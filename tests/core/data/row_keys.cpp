// Keys of sets of rows: the hash that they come from, their arithmetic, and what happens where two
// sets share one all the same.
#include "data/row_keys.hpp"

#include <array>
#include <set>

#include "check.hpp"
#include "problem.hpp"
#include "sample/smc.hpp"
#include "turned_clock.hpp"
#include "workbench.hpp"

using fuzz::Problem;
using fuzz::Random;
using maptree::Blake2b;
using maptree::Dataset;
using maptree::Digest;
using maptree::RowKey;
using maptree::RowKeys;
using maptree::RowSet;

namespace {

constexpr std::uint64_t ones = ~std::uint64_t{0};

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::uint64_t word : digest)
    for (int i = 0; i < 8; ++i)
      for (const int shift : {4, 0}) text += "0123456789abcdef"[word >> (8 * i + shift) & 15];
  return text;
}

Digest digest_of(const std::string& text) {
  Blake2b hash;
  hash.add(text.data(), text.size());
  return hash.finish();
}

// a + b mod 2^127 - 1, for numbers below it, a bit at a time.
RowKey sum(const RowKey& a, const RowKey& b) {
  RowKey out;
  unsigned carry = 0;
  for (int pass = 0; pass < 2; ++pass) {  // what is carried out of the top comes in at the bottom
    const RowKey& x = pass == 0 ? a : out;
    const RowKey y = pass == 0 ? b : RowKey{};
    RowKey next;
    for (unsigned bit = 0; bit < 127; ++bit) {
      const auto of = [bit](const RowKey& k) {
        return static_cast<unsigned>((bit < 64 ? k.low >> bit : k.high >> (bit - 64)) & 1);
      };
      const unsigned total = of(x) + of(y) + carry;
      (bit < 64 ? next.low : next.high) |= std::uint64_t{total & 1} << (bit % 64);
      carry = total >> 1;
    }
    out = next;
  }
  if (out.low == ones && out.high == ones >> 1) out = {};
  return out;
}

// The key by definition: every row counts its word's multiplier, doubled as often as it lies high.
RowKey slow_key(const std::vector<RowKey>& multipliers, const RowSet& rows) {
  RowKey key;
  for (std::size_t w = 0; w < rows.n_words(); ++w) {
    RowKey doubled = sum(multipliers[w % multipliers.size()], {});
    for (unsigned bit = 0; bit < 64; ++bit, doubled = sum(doubled, doubled))
      if ((rows.word(w) >> bit & 1) != 0) key = sum(key, doubled);
  }
  return key;
}

Problem table(Random& random) {
  return workbench::noisy(random, 150, 8, 0.3, 2,
                          [](const std::vector<int>& row) { return row[0] ^ row[1]; });
}

RowKey key_of_all(const Problem& problem) {
  const Dataset data = fuzz::make_dataset(problem);
  return data.key(data.all_rows());
}

}  // namespace

TEST(blake2b_gives_the_published_digests) {
  // RFC 7693, appendix A; the empty text, from the reference implementation's list.
  CHECK_EQUAL(hex(digest_of("abc")),
              "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
              "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
  CHECK_EQUAL(hex(digest_of("")),
              "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
              "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce");
  // Every length up to 599, hashed once more; the digest is that of Python's hashlib.
  Blake2b all;
  for (std::size_t n = 0; n < 600; ++n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += static_cast<char>((7 * i + n) % 256);
    for (const std::uint64_t word : digest_of(text)) all.add(word);
  }
  CHECK_EQUAL(hex(all.finish()),
              "ec5a64e3ac5cb200f8120eeed4f2a5ad453b8a100bc991e5e40b2eeb99cc90d4"
              "89c9d1c19d82dcb731b20c88a4455b9013c069ef8f181edb55f39d6e97fe69fb");
}

TEST(blake2b_does_not_depend_on_the_pieces) {
  Random random(1);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(random.below(256));
  for (int round = 0; round < 50; ++round) {
    Blake2b hash;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = std::min(text.size() - at, static_cast<std::size_t>(random.below(300)));
      hash.add(text.data() + at, n);
      at += n;
    }
    CHECK(hash.finish() == digest_of(text));
  }
}

TEST(keys_are_sums_modulo_the_prime) {
  Random random(2);
  const RowKey extremes[] = {{0, 0}, {0, 1}, {ones >> 1, ones}, {ones >> 1, ones - 1}, {0, ones}};
  for (int round = 0; round < 200; ++round) {
    const auto n_words = static_cast<std::size_t>(1 + random.below(round < 10 ? 400 : 6));
    std::vector<RowKey> multipliers;
    for (std::size_t w = 0; w < n_words; ++w)
      multipliers.push_back(random.chance(0.3) ? extremes[random.below(5)]
                                               : RowKey{random.next() >> 1, random.next()});
    const RowKeys keys(multipliers, n_words);
    RowSet whole(n_words), part, rest;
    std::vector<maptree::Word> column(n_words);
    for (std::size_t w = 0; w < n_words; ++w) {
      const maptree::Word word = random.chance(0.3) ? ones : random.chance(0.3) ? 0 : random.next();
      maptree::for_each_slot(word, 64 * w, [&](std::size_t slot) { whole.insert(slot); });
      column[w] = random.chance(0.05) ? random.next() : 0;
    }
    CHECK(keys(whole) == slow_key(multipliers, whole));
    part.assign_side(whole, column.data(), 1);
    rest.assign_side(whole, column.data(), 0);
    CHECK(keys(part) == slow_key(multipliers, part));
    CHECK(keys(rest) == maptree::key_of_rest(keys(whole), keys(part)));
    CHECK(keys(part) == maptree::key_of_rest(keys(whole), keys(rest)));
    CHECK(keys(whole) == sum(keys(part), keys(rest)));
  }
}

TEST(keys_are_reduced_where_every_carry_meets) {
  // 2^191 + 2^127 - 1: all that is carried out of the lower half goes through the upper one.
  const RowKey p{ones >> 1, ones};
  const std::vector<RowKey> multipliers = {p, p, p, {1, 0}};
  RowSet rows(4);
  for (const std::size_t slot : {63u, 127u, 128u, 192u}) rows.insert(slot);
  CHECK(RowKeys(multipliers, 4)(rows) == slow_key(multipliers, rows));

  // 2^128 - 2^64 of the upper halves, and a little more of the lower ones.
  std::vector<RowKey> large(8, RowKey{std::uint64_t{1} << 62, ones});
  large[3].high -= 2;
  RowSet tops(8);
  for (std::size_t w = 0; w < 8; ++w) tops.insert(64 * w + 63);
  CHECK(RowKeys(large, 8)(tops) == slow_key(large, tops));

  std::vector<RowKey> numbers;  // at the ends of both halves
  for (const std::uint64_t high : {std::uint64_t{0}, std::uint64_t{1}, (ones >> 1) - 1, ones >> 1})
    for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}, ones - 1, ones})
      if (!(RowKey{high, low} == p)) numbers.push_back({high, low});
  for (const RowKey& a : numbers)
    for (const RowKey& b : numbers) CHECK(maptree::key_of_rest(sum(a, b), a) == b);
}

TEST(multipliers_are_drawn_one_after_the_other) {
  Random random(6);
  for (const std::size_t n_words : {1u, 3u, 4u, 5u, 50u}) {
    const Digest table{random.next(), random.next(), random.next()};
    std::vector<RowKey> multipliers;
    for (std::uint64_t counter = 0; multipliers.size() < n_words; ++counter) {
      Blake2b hash;
      for (const std::uint64_t word : table) hash.add(word);
      hash.add(counter);
      const Digest words = hash.finish();
      for (std::size_t i = 0; i < 4; ++i) {
        const std::uint64_t high = words[2 * i] % (std::uint64_t{1} << 63);
        multipliers.push_back({high, words[2 * i + 1]});
      }
    }
    RowKeys keys;
    maptree::Watch never;
    CHECK(keys.draw(table, n_words, never));
    CHECK_EQUAL(keys.bytes(), 16 * n_words);
    for (std::size_t slot = 0; slot < 64 * n_words; slot += 21) {
      RowSet row(n_words);
      row.insert(slot);
      CHECK(keys(row) == slow_key(multipliers, row));
    }
  }
}

TEST(drawing_keys_can_be_stopped) {
  const auto draw = [](std::int64_t late_from) {
    const TurnedClock clock(late_from);
    maptree::Control control(clock.limits());
    maptree::Watch watch(control);
    RowKeys keys;
    const bool ended = keys.draw(Digest{7}, 100, watch);
    CHECK_EQUAL(ended, clock.n_readings() <= late_from);
    return clock.n_readings();
  };
  const std::int64_t all = draw(TurnedClock::never);
  CHECK(all >= 25);  // four multipliers at a time
  for (std::int64_t late_from = 0; late_from <= all; ++late_from) draw(late_from);
}

TEST(keys_come_from_all_of_the_table) {
  Random random(3);
  const Problem problem = table(random);
  const RowKey key = key_of_all(problem);
  CHECK(key == key_of_all(problem));
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen = {{key.high, key.low}};
  const auto note = [&](const Problem& changed) {
    const RowKey other = key_of_all(changed);
    CHECK(seen.insert({other.high, other.low}).second);
  };
  for (std::size_t r = 0; r < 150; r += 7) {
    Problem changed = problem;
    changed.model.x[r][r % 8] ^= 1;
    note(changed);
    changed = problem;
    changed.model.y[r] ^= 1;
    note(changed);
    changed = problem;
    changed.model.weight[r] = 2;
    note(changed);
    // The order of two rows that differ.
    changed = problem;
    std::swap(changed.model.x[r], changed.model.x[(r + 1) % 150]);
    std::swap(changed.model.y[r], changed.model.y[(r + 1) % 150]);
    if (problem.model.x[r] != problem.model.x[(r + 1) % 150]) note(changed);
  }
  Problem wider = problem;
  for (std::vector<int>& row : wider.model.x) row.push_back(row[0]);
  note(wider);
}

// All sets of rows have one key: the first two that are compared differ in their class counts.
TEST(a_collision_is_an_error_in_every_search_with_threads) {
  Random random(4);
  const RowKey zero;
  for (int round = 0; round < 20; ++round) {
    const Problem problem = table(random);
    Dataset data = fuzz::make_dataset(problem);
    data.use_keys(RowKeys({&zero, 1}, data.n_words()));
    const maptree::Prior prior = fuzz::make_prior(problem);
    maptree::Options options = fuzz::make_options(problem);
    for (const std::int64_t threads : {1, 4})
      CHECK_THROWS(maptree::KeyCollision,
                   maptree::search(data, prior, options, {.threads = threads}));
    options.improve = false;
    for (const std::int64_t threads : {1, 4})
      CHECK_THROWS(maptree::KeyCollision,
                   maptree::search(data, prior, options, {.threads = threads}));
    options.depth_first = false;
    CHECK_THROWS(maptree::KeyCollision, maptree::search(data, prior, options, {}));
    CHECK_THROWS(maptree::KeyCollision,
                 maptree::search(data, prior, maptree::Options::paper(), {}));
  }
}

TEST(a_collision_is_an_error_among_particles) {
  Random random(5);
  const RowKey zero;
  const Problem problem = table(random);
  Dataset data = fuzz::make_dataset(problem, {.rows = true, .columns = false});
  data.use_keys(RowKeys({&zero, 1}, data.n_words()));
  for (const std::int64_t threads : {1, 4}) {
    maptree::SmcOptions options;
    options.n_particles = 100;
    CHECK_THROWS(maptree::KeyCollision, maptree::sample_smc(data, fuzz::make_prior(problem),
                                                            options, {.threads = threads}));
  }
}

// Two distinct rows of class 0 get the key of one row of weight 2: their class counts agree, and
// add up with those of the other rows, but one set can be split and the other can not.
TEST(a_collision_among_particles_is_found_where_class_counts_agree) {
  Problem problem;
  problem.model.x = {{1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 0}};
  problem.model.y = {0, 0, 0, 0, 1};
  problem.model.weight = {1, 1, 1, 1, 1};
  Dataset data = fuzz::make_dataset(problem, {.rows = true, .columns = false});
  std::vector<RowKey> multipliers;
  for (std::size_t w = 0; w < data.n_words(); ++w) multipliers.push_back({0, 1000 + w});
  for (const maptree::Segment& segment : data.segments())
    if (segment.pattern[0].k == 0)
      multipliers[segment.first_word].low = segment.n_rows == 1 ? 3 : 1;
  data.use_keys(RowKeys(multipliers, data.n_words()));
  maptree::SmcOptions options;
  options.n_particles = 100;
  CHECK_THROWS(maptree::KeyCollision,
               maptree::sample_smc(data, fuzz::make_prior(problem), options, {}));
}

TEST(sums_tell_class_counts_apart) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  std::size_t n = 0;
  for (std::int64_t a = 0; a < 30; ++a)
    for (std::int64_t b = 0; b < 30; ++b)
      for (std::int64_t distinct = 1; distinct < 10; ++distinct, ++n) {
        const auto sums = maptree::RowSums::of(std::array{a, b}, distinct, 2);
        CHECK_EQUAL(sums.weight, static_cast<std::uint32_t>(a + b));
        seen.insert({sums.weight, sums.digest});
      }
  CHECK_EQUAL(seen.size(), n);
}
