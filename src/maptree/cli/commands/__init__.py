"""The commands: one file each, with a function named after the file.

To add one, add a file. Its arguments and options are typer's; its docstring is the help text and
ends with an example. Put slow imports inside the function.
"""
