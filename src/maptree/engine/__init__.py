"""Runs the core: searches, samplers, and the routing of rows to leaves."""
