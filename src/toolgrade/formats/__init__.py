"""Reading traces, cases and tools from files, and writing them.

How a trace format is added: one module with a `FORMAT` (`format.py`), listed in `registry.FORMATS`.
Its `read` takes a `Source` (`source.py`: lines or one document, parsed once), and usually calls
`reading.read_parts(source, build, split)`: `split` takes a JSON document apart into `Part`s, `build` makes
one `Trace` of a part. Both raise `record.Malformed(field, found, expected)` for what is wrong; the accessors
in `access.py` do that by themselves. `calls.py` reads arguments, contents and token counts of any dialect.
"""
