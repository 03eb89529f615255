"""Files and JSON, whoever wrote them: whole or not at all, and checked value by value."""
