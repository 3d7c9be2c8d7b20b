#!/usr/bin/env python3
"""The original kernels of an instrumented program are those of a plain build.

check_originals.py [--target gfx906] PLAIN PROBED

compares the code objects of two programs as tools/codecompare.py says.
"""
import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import codecompare  # noqa: E402
import codeobject  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plain")
    parser.add_argument("probed")
    parser.add_argument("--target", default="gfx906")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            count = codecompare.compare_all(*(
                codeobject.extract(program, pathlib.Path(folder) / name, options.target)
                for name, program in (("plain", options.plain), ("probed", options.probed))))
        except (codecompare.Difference, codeobject.CodeObjectError, OSError) as error:
            print(f"check_originals.py: {error}", file=sys.stderr)
            return 1
    print(f"originals equal: {count} kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
