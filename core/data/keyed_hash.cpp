#include "data/keyed_hash.hpp"

namespace maptree {

KeyedHash::KeyedHash(const Digest& digest_of_table) {
  // The hash in counter mode. The keys of sets of rows are other hashes: those have no word more.
  const auto draw = [&](std::uint64_t counter) {
    Blake2b hash;
    for (const std::uint64_t word : digest_of_table) hash.add(word);
    hash.add(counter);
    hash.add(std::uint64_t{block});
    return hash.finish();
  };
  const Digest first = draw(0);
  a_ = first[0] >> 4;
  b_ = first[1] >> 4;
  for (std::size_t i = 0; i < block;) {
    for (const std::uint64_t word : draw(1 + i)) {
      low_[i] = static_cast<std::uint32_t>(word);
      high_[i++] = static_cast<std::uint32_t>(word >> 32);
    }
  }
}

}  // namespace maptree
