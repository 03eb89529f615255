"""Tests, rules, trees, certificates and scores in words: one voice for whoever speaks of them."""
