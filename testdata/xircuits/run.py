"""Compiles and runs every drawing of a folder with the real Xircuits, and writes what each printed as JSON to stdout.

Given the folder, in which `xircuits init` was done before."""

import contextlib
import io
import json
import os
import runpy
import sys
from pathlib import Path

from xircuits.compiler.compiler import recursive_compile


def run(drawing: Path) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()):
        recursive_compile(str(drawing))
    sys.argv = [str(drawing.with_suffix(".py"))]
    with contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except Exception as error:  # What the drawing raises is part of what it does.
            print(f"raised {type(error).__name__}: {error}")
    return printed.getvalue()


folder = Path(sys.argv[1]).resolve()
os.chdir(folder)
sys.path.insert(0, str(folder))
print(json.dumps({drawing.stem: run(drawing) for drawing in sorted(folder.glob("*.xircuits"))}))
