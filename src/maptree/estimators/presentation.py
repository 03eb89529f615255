"""Showing and exporting a fitted tree: a thin layer over exports and report."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from maptree.parameters.costs import Costs
    from maptree.trees.fitted import FittedTree
    from maptree.words.alternatives import Alternatives
    from maptree.words.size_path import SizePath

Names = Sequence[str] | None


class InNotebooks:
    """Shows a fitted model in a notebook as its tree, and what is known about it."""

    fitted_: FittedTree

    @property
    def _has_picture(self) -> bool:
        """Whether there is a tree."""
        return hasattr(self, "fitted_")

    def _repr_html_inner(self) -> str:
        """Return the tree as a picture; before ``fit``, what scikit-learn shows."""
        if not self._has_picture:
            html: str = super()._repr_html_inner()  # type: ignore[misc]
            return html
        from maptree.pictures.report.notebook import notebook_html

        return notebook_html(self.fitted_, type(self).__name__)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return HTML for notebooks, and text for frontends without HTML."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if self._has_picture and "text/html" in bundle:
            from maptree.pictures.report.notebook import notebook_text

            bundle["text/html"] = self._repr_html_inner()
            bundle["text/plain"] = f"{self!r}\n{notebook_text(self.fitted_)}"
        return bundle


class Presentation(InNotebooks):
    """Adds ``to_sql``, ``to_html`` and so on to an estimator with one fitted tree.

    Every method passes ``fitted_`` to a function that is imported only then. In all exports,
    ``feature_names`` gives the names of the columns, in order, if the table had none or if they
    differ where the export will run.
    """

    def _renamed(self, feature_names: Names) -> FittedTree:
        check_is_fitted(self)
        return self.fitted_.renamed(feature_names)

    def to_sql(
        self,
        dialect: Literal["ansi", "duckdb", "postgresql", "sqlite"] = "ansi",
        table: str | Sequence[str] = "data",
        keep: Sequence[str] | None = None,
        feature_names: Names = None,
        exposure: str | None = None,
    ) -> str:
        r"""Return a SELECT that adds the leaf, prediction and probabilities to each row of a table.

        NULL is a missing value, and so is NaN in databases that support it. For numbers and counts
        it adds ``prediction``, the mean, and ``lower`` and ``upper``, the 95% predictive interval;
        those of counts have an exposure of 1.

        Parameters
        ----------
        dialect : {"ansi", "duckdb", "postgresql", "sqlite"}, default="ansi"
            The SQL dialect. In SQLite, dates and times are ISO 8601 text (in UTC if the column has
            a time zone) and durations are whole nanoseconds.
        table : str or sequence of str, default="data"
            The table's name; ("schema", "table") for one in a schema.
        keep : sequence of str, optional
            Columns of the table to return as well; None returns all. Added columns get the prefix
            ``maptree_`` if their names would clash with these or with the model's columns.
        feature_names : sequence of str, optional
            Names of the columns in the database.
        exposure : str, optional
            For counts, the column of the table with the exposure: ``prediction`` is the rate times
            it, NULL where it is not above 0. Intervals depend on it in a way that SQL cannot
            compute: in their place there is ``size``, that of the negative binomial distribution
            whose mean is ``prediction``.

        Examples
        --------
        >>> from maptree import MAPTreeClassifier
        >>> X = [[25.0], [31.0], [40.0], [47.0], [52.0], [60.0]] * 4
        >>> model = MAPTreeClassifier().fit(X, ["no", "no", "no", "yes", "yes", "yes"] * 4)
        >>> print(model.to_sql("duckdb", "people", feature_names=["age"]))
        WITH "leaves" ("leaf", "prediction", "proba_no", "proba_yes") AS (
          VALUES
            (1, 'yes', 0.14705882352941177e0, 0.8529411764705882e0),
            (2, 'no', 0.8529411764705882e0, 0.14705882352941177e0)
        )
        SELECT
          data.*,
          "leaves"."leaf",
          "leaves"."prediction",
          "leaves"."proba_no",
          "leaves"."proba_yes"
        FROM "people" AS data
        LEFT JOIN "leaves" ON "leaves"."leaf" =
          CASE
            WHEN data."age" <= 43.5e0 THEN 2
            ELSE 1
          END
        """
        from maptree.export.sql import write_sql

        return write_sql(self._renamed(feature_names), dialect, table, keep, exposure)

    def to_sklearn(self) -> Any:
        """Return a fitted Pipeline: the encoder, and a DecisionTreeClassifier over its tests.

        Its ``predict_proba`` equals that of this model. For numbers and counts the last step is a
        DecisionTreeRegressor, whose ``predict`` equals that of this model without an exposure: of
        counts it is the rate, to be multiplied by one. Tools for scikit-learn's trees, such as
        ``sklearn.tree.plot_tree``, work on the last step; the names of the tests are
        ``pipeline[:-1].get_feature_names_out()``. Calling ``fit`` would replace the tree with one
        that scikit-learn grows.

        >>> from maptree import MAPTreeClassifier
        >>> from sklearn.tree import export_text
        >>> X = [[25.0], [31.0], [40.0], [47.0], [52.0], [60.0]] * 4
        >>> model = MAPTreeClassifier().fit(X, ["no", "no", "no", "yes", "yes", "yes"] * 4)
        >>> pipeline = model.to_sklearn()
        >>> print(export_text(pipeline[-1], feature_names=["x0 <= 43.5"]))
        |--- x0 <= 43.5 <= 0.50
        |   |--- class: yes
        |--- x0 <= 43.5 >  0.50
        |   |--- class: no
        <BLANKLINE>
        """
        from maptree.export.sklearn_pipeline import make_pipeline

        return make_pipeline(self._renamed(None))

    def to_onnx(
        self, missing_text: str = "", feature_names: Names = None, exposure: bool = False
    ) -> Any:
        """Return an ``onnx.ModelProto`` with an input for every column that the tree tests.

        Inputs have shape (rows, 1): doubles (NaN: missing; booleans are 0 and 1), strings, and
        64-bit integers for whole numbers beyond 2^53 and for dates and times, in days since
        1970-01-01 or nanoseconds (the smallest integer, which is numpy's NaT: missing). Outputs are
        ``label``, ``probabilities`` (doubles) and ``leaf``; for numbers and counts ``prediction``,
        ``interval`` (the ends of the 95% predictive interval, shape (rows, 2)) and ``leaf``. A tree
        that is a single leaf has one input, ``rows``: doubles of shape (rows,), whose values are
        not used. Needs the package onnx.

        Parameters
        ----------
        missing_text : str, default=""
            The string that stands for a missing value, because ONNX strings have no null.
        feature_names : sequence of str, optional
            Names of the columns. Inputs are named after them, with ``_`` in place of characters
            other than letters and digits, and with ``_2`` appended if an output or another input
            has that name; ``metadata_props`` has the original names.
        exposure : bool, default=False
            For counts, whether there is an input ``exposure``, doubles of shape (rows, 1).
            ``prediction`` is then the rate times it, and the output ``size``, that of the negative
            binomial distribution, is in place of ``interval``, which is for an exposure of 1.
        """
        from maptree.export.onnx_graph import write_onnx

        return write_onnx(self._renamed(feature_names), missing_text, exposure)

    def to_python(self, feature_names: Names = None) -> str:
        """Return a Python module with ``leaf(row)``, ``predict(row)`` and ``predict_proba(row)``.

        A row is a mapping from column names to values; None and NaN are missing. The module needs
        only the standard library. For numbers and counts it has ``predict_interval(row)`` and
        ``predict_dist(row)`` in place of ``predict_proba``; ``predict`` and ``predict_dist`` of
        counts take an exposure, the interval is for one of 1.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[25.0], [60.0]] * 9, ["no", "yes"] * 9)
        >>> module = {}
        >>> exec(model.to_python(["age"]), module)
        >>> module["predict"]({"age": 70}), module["predict_proba"]({"age": None})
        ('yes', (0.17857142857142858, 0.8214285714285714))
        """
        from maptree.export.python_source import write_python

        return write_python(self._renamed(feature_names))

    def to_c(self, prefix: str = "maptree", feature_names: Names = None) -> str:
        r"""Return a C99 file with a struct ``<prefix>_row`` and functions that take it.

        These are ``<prefix>_predict_proba(&row, probabilities)``, ``<prefix>_predict(&row)`` (an
        index into ``<prefix>_labels``) and ``<prefix>_leaf(&row)``. The fields of the struct are
        the columns that the tree tests, as doubles (missing: NaN), UTF-8 strings (missing: NULL),
        and int64_t (missing: INT64_MIN) for times and whole numbers beyond 2^53; comments give the
        units. For numbers and counts there are ``<prefix>_predict_interval(&row, interval)`` and
        ``<prefix>_predict_dist(&row, dist)`` in place of ``<prefix>_predict_proba``. For counts,
        ``<prefix>_predict(&row, exposure)`` and ``<prefix>_predict_dist(&row, exposure, dist)``
        take an exposure; the interval is for one of 1.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[25.0], [60.0]] * 9, ["no", "yes"] * 9)
        >>> source = model.to_c(feature_names=["age (years)"])
        >>> print(*[line for line in source.split("\n") if "age" in line], sep="\n")
          double age_years; /* "age (years)", number; NaN: missing */
          if (row->age_years <= 42.5) return 1;
        """
        from maptree.export.c_source import write_c

        return write_c(self._renamed(feature_names), prefix)

    def to_javascript(self, feature_names: Names = None) -> str:
        r"""Return an ES module with ``leaf(row)``, ``predict(row)`` and ``predictProba(row)``.

        A row is an object with a property for every column; null, undefined and NaN are missing.
        Numbers may be BigInt; whole numbers beyond 2^53 must be. Dates and times are ISO 8601
        text; if the column has a time zone, in UTC, or a Date. Durations are nanoseconds. For
        numbers and counts there are ``predictInterval(row)`` and ``predictDist(row)`` in place of
        ``predictProba``; ``predict`` and ``predictDist`` of counts take an exposure, the interval
        is for one of 1.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[25.0], [60.0]] * 9, ["no", "yes"] * 9)
        >>> source = model.to_javascript(["age"])
        >>> print(*[line for line in source.split("\n") if "age" in line], sep="\n")
          if (atMost(row["age"], 42.5)) return 2;
        """
        from maptree.export.javascript_source import write_javascript

        return write_javascript(self._renamed(feature_names))

    def to_dict(self, feature_names: Names = None) -> dict[str, Any]:
        """Return the tree as JSON values that other programs can read: see docs/exports.md.

        To store a model and load it again, use ``maptree.save_model``.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[25.0], [60.0]] * 9, ["no", "yes"] * 9)
        >>> root = model.to_dict(["age"])["nodes"][0]
        >>> root["column"], root["operator"], root["value"], root["yes"], root["no"]
        (0, '<=', 42.5, 2, 1)
        """
        from maptree.export.description import describe

        return describe(self._renamed(feature_names))

    def to_json(self, feature_names: Names = None, indent: int | None = 2) -> str:
        """Return ``to_dict`` as JSON text."""
        from maptree.export.description import write_json

        return write_json(self._renamed(feature_names), indent)

    def to_dot(self, feature_names: Names = None) -> str:
        """Return the tree in Graphviz's language: ``dot -Tsvg`` draws it.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[25.0], [60.0]] * 9, ["no", "yes"] * 9)
        >>> print(model.to_dot(["age"]))
        digraph tree {
          ordering=out;
          node [shape=box, fontname="sans-serif"];
          edge [fontname="sans-serif"];
          0 [label="age <= 42.5"];
          1 [label="yes 0.82\\nn = 9", style=rounded];
          2 [label="no 0.82\\nn = 9", style=rounded];
          0 -> 2 [label="yes"];
          0 -> 1 [label="no"];
        }
        <BLANKLINE>
        """
        from maptree.export.dot import write_dot

        return write_dot(self._renamed(feature_names))

    def to_mermaid(self, feature_names: Names = None) -> str:
        """Return the tree as a Mermaid flowchart, for Markdown pages.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[25.0], [60.0]] * 9, ["no", "yes"] * 9)
        >>> print(model.to_mermaid(["age"]))
        flowchart TD
          n0["age #60;#61; 42#46;5"]
          n1("yes 0#46;82<br/>n #61; 9")
          n2("no 0#46;82<br/>n #61; 9")
          n0 -->|"yes"| n2
          n0 -->|"no"| n1
        <BLANKLINE>
        """
        from maptree.export.mermaid import write_mermaid

        return write_mermaid(self._renamed(feature_names))

    def to_latex(self, feature_names: Names = None, document: bool = False) -> str:
        r"""Return the tree as a LaTeX ``forest`` environment (``\usepackage{forest}``).

        With ``document``, return a complete document. pdfLaTeX supports Latin script only; for
        other scripts use LuaLaTeX and a suitable font.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[25.0], [60.0]] * 9, ["no", "yes"] * 9)
        >>> print(*model.to_latex(["age"]).split("\n")[4:], sep="\n")
          [{age \textless{}= 42.5}
            [{no 0.82\\n = 9}, yes, rounded corners]
            [{yes 0.82\\n = 9}, no={no}, rounded corners]
          ]
        \end{forest}
        <BLANKLINE>
        """
        from maptree.export.latex import write_latex

        return write_latex(self._renamed(feature_names), document)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        X: Any = None,
        y: Any = None,
        feature_names: Names = None,
        title: str | None = None,
        costs: Costs | None = None,
        positive: Any = None,
        alternatives: Alternatives | None = None,
        sizes: SizePath | None = None,
        exposure: Any = None,
    ) -> str | None:
        """Write a report as one HTML file that works offline; without a path, return its text.

        Parameters are those of ``maptree.write_report``.

        >>> from maptree import MAPTreeClassifier
        >>> model = MAPTreeClassifier().fit([[0], [1]] * 6, ["no", "yes"] * 6)
        >>> "<svg" in model.to_html()
        True
        """
        from maptree.pictures.report.write import report_html, write_report

        check_is_fitted(self)
        about = feature_names, title, costs, positive, alternatives, sizes, exposure
        if path is None:
            return report_html(self, X, y, *about)
        write_report(self, path, X, y, *about)
        return None
