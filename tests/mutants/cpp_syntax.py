"""The syntax tree of a C++ file, and the names that places in it have for a reader."""

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter
import tree_sitter_cpp

# A place is named by the largest of these around it that is not long.
PHRASES = {
    "argument_list",
    "assignment_expression",
    "binary_expression",
    "call_expression",
    "condition_clause",
    "conditional_expression",
    "field_declaration",
    "init_declarator",
    "initializer_list",
    "optional_parameter_declaration",
    "parenthesized_expression",
    "return_statement",
    "subscript_argument_list",
    "subscript_expression",
    "unary_expression",
}


@dataclass(eq=False)
class Node:
    """Of the syntax tree."""

    source: bytes = dataclasses.field(repr=False)  # of the whole file
    type: str
    start_byte: int
    end_byte: int
    line: int
    is_named: bool
    field: str | None = None
    parent: "Node | None" = None
    children: list["Node"] = dataclasses.field(default_factory=list)

    @property
    def text(self) -> str:
        return self.source[self.start_byte : self.end_byte].decode()

    @property
    def named_children(self) -> list["Node"]:
        return [child for child in self.children if child.is_named and child.type != "comment"]

    def child_by_field_name(self, field: str) -> "Node | None":
        return next((child for child in self.children if child.field == field), None)


def _plain(source: bytes) -> bytes:
    """Blank out what the grammar does not know: widths of bit fields, and `= {}` of parameters."""
    return re.sub(rb" : \d+(?= = \w+[;,])| = \{\}(?=[,)])", lambda m: b" " * len(m[0]), source)


def parse(source: bytes) -> Node:
    language = tree_sitter.Language(tree_sitter_cpp.language())
    tree = tree_sitter.Parser(language).parse(_plain(source))
    if tree.root_node.has_error:
        raise ValueError("a syntax that is not understood")
    cursor = tree.walk()

    def below(parent: Node | None) -> Node:
        at = cursor.node
        assert at is not None
        line = at.start_point.row + 1
        node = Node(source, at.type, at.start_byte, at.end_byte, line, at.is_named)
        node.field, node.parent = cursor.field_name, parent
        if cursor.goto_first_child():
            node.children.append(below(node))
            while cursor.goto_next_sibling():
                node.children.append(below(node))
            cursor.goto_parent()
        return node

    return below(None)


def ancestors(node: Node) -> Iterator[Node]:
    at: Node | None = node
    while at is not None:
        yield at
        at = at.parent


def is_constexpr(declaration: Node) -> bool:
    return any(
        child.type == "type_qualifier" and child.text in ("constexpr", "constinit")
        for child in declaration.children
    )


def function_type(node: Node) -> Node | None:
    """Of what the function around a place returns, where that is a value."""
    for at in ancestors(node):
        if at.type == "lambda_expression":
            return None
        if at.type == "function_definition":
            declarator = at.child_by_field_name("declarator")
            by_value = declarator is not None and declarator.type == "function_declarator"
            return at.child_by_field_name("type") if by_value else None
    return None


# Names.


def function_name(node: Node) -> str:
    """Of the functions and classes around a place."""
    names: list[str] = []
    for at in ancestors(node):
        if at.type == "function_definition":
            declarator = at.child_by_field_name("declarator")
            while declarator is not None and declarator.type != "function_declarator":
                declarator = declarator.child_by_field_name("declarator") or next(
                    (c for c in declarator.named_children if c.type == "function_declarator"),
                    None,
                )
            if declarator is not None:
                names.append(declarator.children[0].text)
        elif at.type in ("class_specifier", "struct_specifier"):
            name = at.child_by_field_name("name")
            if name is not None:
                names.append(name.text)
    return "::".join(reversed(names))


def phrase(node: Node, part: Node, change: str) -> str:
    """What is around a node, with the change of a part of it."""
    outer = node
    while outer.parent is not None and outer.parent.type in PHRASES:
        if outer.parent.end_byte - outer.parent.start_byte > 70:
            break
        outer = outer.parent
    before = node.source[outer.start_byte : part.start_byte].decode()
    after = node.source[part.end_byte : outer.end_byte].decode()
    return _squeeze(f"{before}{{{change}}}{after}")


def words(node: Node) -> str:
    return _squeeze(node.text)


def _squeeze(text: str) -> str:
    return " ".join(re.sub(r"//[^\n]*", "", text).split())
