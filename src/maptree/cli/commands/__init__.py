"""The commands: a file each, with a function of the file's name.

To add one, add a file. Its arguments and options are typer's; its docstring is the help, and ends
with an example. Import what takes long inside of the function.
"""
