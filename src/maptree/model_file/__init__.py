"""Fitted models as JSON files.

``saving`` writes them and ``loading`` reads them; ``strict_json`` is what both agree on about the
text, ``labels`` about the classes. docs/model-file.md describes the format, field by field.
"""

FORMAT = "maptree model"
VERSION = 1
