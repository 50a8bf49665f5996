"""The example of a docstring comes right after its first paragraph."""


def lift(app, what, name, obj, options, lines):
    """Move the section "Examples" up."""
    heads = [i for i in range(len(lines) - 1) if lines[i].strip() and set(lines[i + 1].strip()) == {"-"}]
    at = next((i for i in heads if lines[i].strip() == "Examples"), None)
    if at is None:
        return
    end = next((i for i in heads if i > at), len(lines))
    example = lines[at + 2 : end]
    del lines[at:end]
    first = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    lines[first:first] = ["", *example, ""]


def setup(app):
    """Run before numpydoc."""
    app.connect("autodoc-process-docstring", lift, priority=1)
    return {"parallel_read_safe": True}
