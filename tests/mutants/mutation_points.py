"""Where the core can be changed, and a copy of its source in which each change can be switched on.

A point is one place and one change: a comparison made strict or not, a plus made a minus,
a constant one more or one less, a minimum made a maximum, an operand of a condition dropped,
a bound that is returned a unit larger, and so on. The copy compares a number at each point
(`mutants.hpp`), so that all mutants are compiled at once.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cpp_syntax import (
    Node,
    ancestors,
    function_name,
    function_type,
    is_constexpr,
    parse,
    phrase,
    words,
)

ROOMS = ("model", "scan", "prove")  # what a certificate rests on

COMPARISONS = {
    "<": ("less", "<="),
    "<=": ("less_equal", "<"),
    ">": ("greater", ">="),
    ">=": ("greater_equal", ">"),
    "==": ("equal", "!="),
    "!=": ("not_equal", "=="),
    "+": ("plus", "-"),
    "-": ("minus", "+"),
}
ASSIGNMENTS = {"+=": ("add_to", "-="), "-=": ("take_from", "+=")}
DROPPED = {"&&": "true", "||": "false"}
OTHER_CALL = (
    ("std::min", "std::max"),
    ("L::min", "L::max"),
    ("L::add", "L::sub"),
    ("Cost::nearest", "Cost::below"),
    ("std::floor", "std::ceil"),
    ("min4", "max4"),
    ("_mm256_add_epi32", "_mm256_sub_epi32"),
    ("_mm256_add_epi64", "_mm256_sub_epi64"),
    ("_mm512_add_epi32", "_mm512_sub_epi32"),
    ("_mm512_add_epi64", "_mm512_sub_epi64"),
    ("_mm256_min_epi32", "_mm256_max_epi32"),
    ("_mm512_min_epi64", "_mm512_max_epi64"),
    ("_mm512_reduce_min_epi64", "_mm512_reduce_max_epi64"),
    ("_mm256_cmpgt_epi32", "_mm256_cmpeq_epi32"),
    ("_mm256_cmpgt_epi64", "_mm256_cmpeq_epi64"),
    ("_mm256_cmpge_epi32_mask", "_mm256_cmpgt_epi32_mask"),
)
OTHER = dict(OTHER_CALL) | {b: a for a, b in OTHER_CALL}
# Their last argument is part of the instruction: the call is written twice; a scale is left alone.
IMMEDIATE = re.compile(r"_mm\d+_(extracti128_si256|i32gather_epi64)$")

# What only says how much memory or work something takes.
ACCOUNTING = re.compile(
    r"(^|::)(bytes|bytes_for|own_bytes|bytes_of_weights|first_bytes|live|growth|cells_growth|table_growth"
    r"|table_may_grow|has_room|wants_spare|words_needed|work_of_counts)$"
)
WORK = re.compile(r"work$|^slice$|^little$")
WATCH = re.compile(r"(watch_?)(\.|->)(poll|stop|count|check)$")

CONSTANT = {
    "array_declarator",
    "enumerator",
    "preproc_def",
    "static_assert_declaration",
    "template_argument_list",
    "template_parameter_list",
}


@dataclass(frozen=True)
class Point:
    number: int
    key: str  # file, function, and the phrase with the change
    line: int  # of the source as it is now; not part of the key


@dataclass
class Copy:
    text: str
    points: list[Point]
    left_out: Counter[str]  # by reason


def files(core: Path) -> list[Path]:
    return sorted(path for room in ROOMS for path in (core / room).rglob("*.[ch]pp"))


class Rewriter:
    """One file."""

    def __init__(self, name: str, source: str, first: int) -> None:
        self.name = name
        self.source = source.encode()
        self.first = first
        self.points: list[Point] = []
        self.left_out: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()
        self.seen: dict[tuple[int, int, str], int] = {}

    def copy(self) -> Copy:
        root = parse(self.source)
        return Copy("#include <mutants.hpp>\n" + self.emit(root), self.points, self.left_out)

    # The text of a node, rewritten.

    def emit(self, node: Node) -> str:
        changed = self.change(node)
        return self.plain(node) if changed is None else changed

    def plain(self, node: Node) -> str:
        out, at = [], node.start_byte
        for child in node.children:
            out.append(self.source[at : child.start_byte].decode())
            out.append(self.emit(child))
            at = child.end_byte
        out.append(self.source[at : node.end_byte].decode())
        return "".join(out)

    def change(self, node: Node) -> str | None:
        match node.type:
            case "binary_expression":
                return self.binary(node)
            case "assignment_expression":
                return self.assignment(node)
            case "number_literal" | "true" | "false":
                return self.literal(node)
            case "unary_expression":
                return self.unary(node)
            case "call_expression":
                return self.call(node)
            case "return_statement":
                return self.returned(node)
            case "identifier" | "field_expression" | "qualified_identifier":
                return self.condition(node, self.plain(node))
        return None

    def binary(self, node: Node) -> str | None:
        left, op, right = node.children[:3]
        sign = op.text
        if sign in COMPARISONS:
            name, other = COMPARISONS[sign]
            n = self.point(node, op, f"{sign} -> {other}")
            if n is not None:
                return f"mutants::{name}({n}, {self.emit(left)}, {self.emit(right)})"
        if sign in DROPPED:
            parts = []
            for operand in (left, right):
                n = self.point(node, operand, f"{words(operand)} -> {DROPPED[sign]}")
                on = f"mutants::on({n})" if n is not None else "false"
                emitted = self.emit(operand)
                parts.append(
                    f"({on} || ({emitted}))" if sign == "&&" else f"(!{on} && ({emitted}))"
                )
            return f"({parts[0]} {sign} {parts[1]})"
        return None

    def assignment(self, node: Node) -> str | None:
        left, op, right = node.children[:3]
        sign = op.text
        if sign not in ASSIGNMENTS:
            return None
        name, other = ASSIGNMENTS[sign]
        n = self.point(node, op, f"{sign} -> {other}")
        return None if n is None else f"mutants::{name}({n}, {self.emit(left)}, {self.emit(right)})"

    def literal(self, node: Node) -> str | None:
        literal = node.text
        caller = node.parent.parent if node.parent is not None else None
        is_argument = caller is not None and caller.type == "call_expression"
        if caller and is_argument and IMMEDIATE.search(caller.children[0].text):
            return None
        if node.type != "number_literal":
            other = "false" if literal == "true" else "true"
            n = self.point(node, node, f"{literal} -> {other}")
            return None if n is None else f"mutants::number({n}, {literal}, {other})"
        if re.search(r"\.|^\d+e", literal) and not literal.startswith("0x"):
            n = self.point(node, node, f"{literal} -> 1.5 * {literal}")
            return None if n is None else f"mutants::number({n}, {literal}, 1.5 * {literal})"
        value = int(literal.rstrip("uULl").replace("'", ""), 0)
        out = literal
        if node.parent is not None and node.parent.type == "subscript_argument_list" and value < 2:
            changes = [1 - value]
        else:
            changes = [value + 1] if value == 0 else [value + 1, value - 1]
        for other_value in changes:
            n = self.point(node, node, f"{literal} -> {other_value}")
            if n is None:
                return None
            step = f"{literal} {'+' if other_value > value else '-'} 1"
            out = f"mutants::number({n}, {out}, {step})"
        return out

    def unary(self, node: Node) -> str | None:
        op, operand = node.children[:2]
        sign = op.text
        if sign not in ("!", "-"):
            return None
        if sign == "-" and operand.type == "number_literal":
            literal = node.text
            n = self.point(node, node, f"{literal} -> {literal} + 1")
            return None if n is None else f"mutants::number({n}, {literal}, {literal} + 1)"
        n = self.point(node, op, "! -> " if sign == "!" else "- -> +")
        if n is None:
            return None
        emitted = self.emit(operand)
        if sign == "!":
            return f"(mutants::on({n}) != !({emitted}))"
        return f"(mutants::on({n}) ? ({emitted}) : -({emitted}))"

    def call(self, node: Node) -> str | None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        assert function is not None
        assert arguments is not None
        name = function.text
        bare = re.sub(r"<.*", "", name, flags=re.DOTALL)
        out = None
        if bare in OTHER:
            other = OTHER[bare] + name[len(bare) :]
            n = self.point(node, function, f"{name} -> {other}")
            if n is not None:
                given = self.emit(arguments)
                if bare == "L::min":  # not every type of lanes has a maximum
                    return f"mutants::least_lanes<L>({n}, {given[1:]}"
                out = f"(mutants::on({n}) ? {other}{given} : {name}{given})"
        elif IMMEDIATE.search(name) and name.endswith("si256"):
            of, literal = arguments.named_children
            value = int(literal.text)
            n = self.point(literal, literal, f"{value} -> {1 - value}")
            if n is not None:
                given = self.emit(of)
                either = f"{name}({given}, {1 - value}) : {name}({given}, {value})"
                out = f"(mutants::on({n}) ? {either})"
        return self.condition(node, self.plain(node) if out is None else out, out)

    def condition(self, node: Node, emitted: str, otherwise: str | None = None) -> str | None:
        """What decides without being compared is turned round."""
        parent = node.parent
        decides = parent is not None and (
            (parent.type == "conditional_expression" and parent.children[0] == node)
            or (parent.type == "condition_clause" and len(parent.named_children) == 1)
        )
        n = self.point(node, node, f"{words(node)} -> !") if decides else None
        return otherwise if n is None else f"(mutants::on({n}) != static_cast<bool>({emitted}))"

    def returned(self, node: Node) -> str | None:
        """A bound that is returned is one unit larger."""
        kind = function_type(node)
        if kind is None or kind.text not in ("Cost", "std::int64_t"):
            return None
        value = node.named_children[0]
        if value.type == "initializer_list":
            return None
        n = self.point(node, value, f"{words(value)} -> + 1 unit")
        return None if n is None else f"return mutants::unit_more({n}, {self.emit(value)});"

    # Points.

    def point(self, node: Node, part: Node, change: str) -> int | None:
        """The number of the change of a part of a node; None where it is left out."""
        place = (node.start_byte, part.start_byte, change)
        if place in self.seen:  # written twice
            return self.seen[place]
        reason = self.reason_to_leave_out(node)
        if reason is not None:
            if (-node.start_byte, part.start_byte, change) not in self.seen:
                self.left_out[reason] += 1
                self.seen[(-node.start_byte, part.start_byte, change)] = -1
            return None
        key = f"{self.name} {function_name(node)}: {phrase(node, part, change)}"
        self.keys[key] += 1
        if self.keys[key] > 1:
            key += f" (no. {self.keys[key]})"
        number = self.first + len(self.points)
        self.points.append(Point(number, key, node.line))
        self.seen[place] = number
        return number

    def reason_to_leave_out(self, node: Node) -> str | None:
        below = node
        if any(child.type == "string_literal" for child in node.children):
            return "words of an error"
        for at in ancestors(node):
            match at.type:
                case kind if kind in CONSTANT:
                    if kind != "array_declarator" or below.field != "declarator":
                        return "constant expression"
                case "preproc_if" | "preproc_elif" if at.child_by_field_name("condition") == below:
                    return "constant expression"
                case "declaration" | "field_declaration" if is_constexpr(at):
                    return "constant expression"
                case "if_statement" if at.child_by_field_name("condition") == below:
                    if at.text.startswith("if constexpr"):
                        return "constant expression"
                case "call_expression":
                    function = at.child_by_field_name("function")
                    assert function is not None
                    name = function.text
                    if function != below:
                        if name == "assert":
                            return "assertion"
                        if WATCH.search(name):
                            return "work that is counted"
                        if re.search(r"\breserve$", name):
                            return "memory that is counted"
                case "throw_statement":
                    return "words of an error"
                case "init_declarator":
                    declarator = at.child_by_field_name("declarator")
                    if declarator is not None and WORK.search(declarator.text):
                        return "work that is counted"
                case "function_definition":
                    if ACCOUNTING.search(function_name(node)):
                        return "memory that is counted"
            below = at
        return None
