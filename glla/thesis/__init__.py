"""`glla study thesis`: the thesis's evaluation on the device at hand, theirs beside ours.

`published` has what is printed there, `measure` how it is measured here, `loops` the textbook's algorithms that its
ratios are against, `evaluation` a function for each group of figures, `claims` the table of its claims, `parts` what a
section is made of, and `command` the command.
"""
