"""The room that runs the core: searches, samplers, and the routing of rows to leaves."""
