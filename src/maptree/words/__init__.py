"""Tests, rules, trees, certificates and scores in words: the only place that writes them."""
