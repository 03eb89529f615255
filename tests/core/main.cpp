// The C++ tests of the parts of the core; whole searches are compared with brute force by the
// traces replayed here, by the fuzzer and by the Python suite.
//
//   core_test [TRACES [NAME [half]]]   replay the traces of a directory; only tests with NAME in
//                                      them; of these every other one, from the first or second on
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "check.hpp"
#include "data/row_set.hpp"
#include "data/transpose.hpp"
#include "model/cost.hpp"
#include "verify.hpp"

using fuzz::Random;
using maptree::Cost;

TEST(cost_rounds_to_nearest_and_below) {
  const double unit = 1 / Cost::units_per_nat;
  CHECK_EQUAL(Cost::nearest(1.0).units(), std::int64_t{1} << 32);
  CHECK_EQUAL(Cost::nearest(0.4 * unit).units(), 0);
  CHECK_EQUAL(Cost::nearest(0.6 * unit).units(), 1);
  CHECK_EQUAL(Cost::nearest(-0.6 * unit).units(), -1);
  CHECK_EQUAL(Cost::below(0.9 * unit).units(), 0);
  CHECK_EQUAL(Cost::below(-0.1 * unit).units(), -1);
  CHECK_EQUAL(Cost::below(3.0).units(), Cost::nearest(3.0).units());
  CHECK_EQUAL(Cost::nearest(2.5).nats(), 2.5);
}

TEST(cost_sums_are_exact_and_ordered) {
  Cost sum;
  for (int i = 0; i < 1000; ++i) sum += Cost::nearest(0.1);
  CHECK_EQUAL(sum.units(), 1000 * Cost::nearest(0.1).units());
  CHECK(Cost(1) < Cost(2) && Cost(-1) < Cost(0) && Cost(2) <= Cost(2));
  CHECK((Cost(5) - Cost(7)) + Cost(2) == Cost(0));
}

TEST(cost_infinity_survives_sums_of_three) {
  const Cost most((std::int64_t{1} << 60) - 1);  // what a finite cost may be at most
  CHECK(most.finite());
  CHECK(!Cost::infinity().finite());
  CHECK(most < Cost::infinity());
  const Cost three = Cost::infinity() + Cost::infinity() + Cost::infinity();
  CHECK(!three.finite());
  CHECK(three > Cost::infinity());
  CHECK(!(Cost::infinity() + most + most).finite());
  CHECK(!(Cost::infinity() - most).finite());
  CHECK_EQUAL(three.nats(), std::numeric_limits<double>::infinity());
}

TEST(words_for_covers_every_bit) {
  CHECK_EQUAL(maptree::words_for(0), 0u);
  for (std::size_t bits = 1; bits < 300; ++bits)
    CHECK_EQUAL(maptree::words_for(bits), (bits - 1) / 64 + 1);
}

TEST(sides_of_a_row_set_part_it) {
  Random random(1);
  for (const std::size_t n : {1u, 63u, 64u, 65u, 127u, 128u, 129u, 1000u}) {
    const std::size_t n_words = maptree::words_for(n);
    maptree::RowSet rows(n_words), zero, one;
    std::vector<bool> in(n), ones(n);
    std::vector<maptree::Word> column(n_words, 0);
    for (std::size_t r = 0; r < n; ++r) {
      in[r] = random.chance(0.7);
      ones[r] = random.chance(0.4);
      if (in[r]) rows.insert(r);
      if (ones[r]) column[r / 64] |= std::uint64_t{1} << (r % 64);
    }
    zero.assign_side(rows, column.data(), 0);
    one.assign_side(rows, column.data(), 1);
    CHECK_EQUAL(zero.n_words(), n_words);
    std::vector<bool> in_zero(n), in_one(n);
    for (std::size_t w = 0; w < n_words; ++w) {
      maptree::for_each_slot(zero.word(w), w * 64, [&](std::size_t r) { in_zero.at(r) = true; });
      maptree::for_each_slot(one.word(w), w * 64, [&](std::size_t r) { in_one.at(r) = true; });
    }
    for (std::size_t r = 0; r < n; ++r) {
      CHECK_EQUAL(in_zero[r], in[r] && !ones[r]);
      CHECK_EQUAL(in_one[r], in[r] && ones[r]);
    }
  }
}

TEST(sets_of_few_rows_store_few_words) {
  // Halved again and again by random columns, against one bool a row.
  Random random(3);
  for (const std::size_t n_words : {10u, 127u, 128u, 1000u}) {
    const std::size_t n = 64 * n_words;
    maptree::RowSet rows(n_words), part;
    std::vector<bool> in(n, true);
    for (std::size_t r = 0; r < n; ++r) rows.insert(r);
    for (int round = 0; round < 16; ++round) {
      std::vector<maptree::Word> column(n_words);
      for (maptree::Word& word : column) word = random.next();
      const int side = random.below(2);
      part.assign_side(rows, column.data(), side);
      std::size_t n_words_in = 0, n_stored_in = 0;
      for (std::size_t w = 0; w < n_words; ++w) {
        maptree::Word expected = 0;
        for (std::size_t r = 64 * w; r < 64 * w + 64; ++r) {
          in[r] = in[r] && ((column[w] >> (r % 64)) & 1) == static_cast<unsigned>(side);
          if (in[r]) expected |= maptree::Word{1} << (r % 64);
        }
        CHECK_EQUAL(part.word(w), expected);
        n_words_in += expected != 0 ? 1 : 0;
      }
      for (std::size_t i = 0; i < part.n_stored(); ++i) {
        CHECK(i == 0 || part.place(i - 1) < part.place(i));
        CHECK_EQUAL(part.stored(i), part.word(part.place(i)));
        n_stored_in += part.stored(i) != 0 ? 1 : 0;
      }
      CHECK_EQUAL(n_stored_in, n_words_in);
      CHECK_EQUAL(part.n_words(), n_words);
      if (n_words < 128) CHECK(!part.sparse());
      if (n_words >= 128) CHECK_EQUAL(part.sparse(), n_words_in <= n_words / 8);
      // To and fro, so that a set of one form takes the place of the other.
      std::swap(rows, part);
    }
  }
}

TEST(costs_are_rounded_to_the_nearest_unit) {
  Random random(4);
  const auto check = [](double units) {
    CHECK_EQUAL(maptree::Cost::nearest(units / maptree::Cost::units_per_nat).units(),
                std::llround(units));
  };
  for (const double units :
       {0.0, 0.5, 1.5, 0x1p51 + 0.5, 0x1p52 + 1, 0x1p53 + 2, 0x1p60, 0.49999999999999994})
    for (const double sign : {1.0, -1.0}) check(sign * units);
  for (int i = 0; i < 10000; ++i) {
    const double units = random.log_uniform(1e-3, 1e17);
    check(units);
    check(-units);
    check(std::floor(units) + 0.5);
  }
}

TEST(slots_are_visited_in_order) {
  std::vector<std::size_t> seen;
  maptree::for_each_slot(0x8000000000000003ULL, 128, [&](std::size_t s) { seen.push_back(s); });
  CHECK(seen == (std::vector<std::size_t>{128, 129, 191}));
}

TEST(transpose_is_the_naive_loop) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    std::uint32_t block[32], before[32];
    for (int r = 0; r < 32; ++r)
      before[r] = block[r] =
          round < 32 ? (r == round ? 0x80000001u : 0u) : static_cast<std::uint32_t>(random.next());
    maptree::transpose_32x32(block);
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < 32; ++c) CHECK_EQUAL((block[c] >> r) & 1u, (before[r] >> c) & 1u);
  }
}

TEST(transposing_four_blocks_is_transposing_each) {
  Random random(4);
  std::uint32_t rows[32 * 4], blocks[4][32];
  for (std::size_t r = 0; r < 32; ++r)
    for (std::size_t b = 0; b < 4; ++b)
      rows[r * 4 + b] = blocks[b][r] = static_cast<std::uint32_t>(random.next());
  maptree::transpose_blocks<4>(rows);
  for (std::size_t b = 0; b < 4; ++b) {
    maptree::transpose_32x32(blocks[b]);
    for (std::size_t r = 0; r < 32; ++r) CHECK_EQUAL(rows[r * 4 + b], blocks[b][r]);
  }
}

TEST(traces_survive_writing_and_reading) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const fuzz::Problem problem = fuzz::random_problem(random);
    std::stringstream first, second;
    fuzz::write(first, problem);
    fuzz::write(second, fuzz::read(first));
    CHECK_EQUAL(second.str(), first.str());
  }
  std::istringstream unknown("alpha 0.5\nlambda 3\nrows\n0 0 1\n"), uneven("rows\n00 0 1\n0 0 1\n");
  CHECK_THROWS(std::runtime_error, fuzz::read(unknown));
  CHECK_THROWS(std::runtime_error, fuzz::read(uneven));
}

static std::filesystem::path traces;

TEST(every_kept_trace_passes) {
  if (traces.empty()) return;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(traces))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  CHECK(!files.empty());
  for (const auto& file : files) {
    std::ifstream in(file);
    const fuzz::Problem problem = fuzz::read(in);
    CHECK_EQUAL(file.filename().string() + ": " + fuzz::verify(problem),
                file.filename().string() + ": ");
  }
}

// A failed assertion or a report of a sanitizer ends the process: say in which test.
static const char* running = "";
static void say_where() { std::cerr << "in test " << running << std::endl; }
#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*)());
#endif

int main(int argc, char** argv) {
  std::signal(SIGABRT, [](int) { say_where(); });
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(say_where);
#endif
  if (argc > 1) traces = argv[1];
  const std::string only = argc > 2 ? argv[2] : "";
  const std::string half = argc > 3 ? argv[3] : "";
  int number = 0, passed = 0, failed = 0;
  for (const check::Test& test : check::tests()) {
    if (std::string(test.name).find(only) == std::string::npos) continue;
    const bool in_first = number++ % 2 == 0;
    if ((half == "first" && !in_first) || (half == "second" && in_first)) continue;
    check::failures = 0;
    running = test.name;
    try {
      test.run();
    } catch (const std::exception& error) {
      check::report(test.name, 0, "threw ", error.what());
    }
    if (check::failures == 0) {
      ++passed;
    } else {
      ++failed;
      std::cout << test.name << " failed, " << check::failures << " times\n";
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
