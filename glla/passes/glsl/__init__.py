"""Texts of shaders: `find` resolves a name into the text of a program, the others read or rewrite such texts.

`conditions` says which lines ``#if`` leaves in, `declarations` what a user's shader declares, `padding` puts zeros into
the padding of what it draws, and `es` translates to the dialect of browsers.
"""
