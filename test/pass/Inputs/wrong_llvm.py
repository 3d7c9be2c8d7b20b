"""wrong_llvm.py PLUGIN-FOLDER WORK: loads each plug-in into clang and opt of each LLVM
that is installed. In its own LLVM it works without a word; in any other it says so in
one line, and the compiler ends with an error and without a stack dump."""
import pathlib
import subprocess
import sys

MAJORS = "14", "15", "19", "22"
PLUGINS = MAJORS[1:]


def main():
    folder, work = map(pathlib.Path, sys.argv[1:])
    (work / "f.c").write_text("int f(void) { return 1; }\n")
    (work / "f.ll").write_text("define void @f() { ret void }\n")
    tried, problems = 0, []
    for major in MAJORS:
        programs = pathlib.Path(f"/usr/lib/llvm-{major}/bin")
        for plugin in PLUGINS:
            library = folder / f"kprobe-pass-llvm{plugin}.so"
            for command in ([programs / "clang", "-O2", f"-fpass-plugin={library}", "-c",
                             work / "f.c", "-o", work / "f.o"],
                            [programs / "opt", f"-load-pass-plugin={library}", "-passes=kprobe",
                             "-disable-output", work / "f.ll"]):
                if not command[0].exists() or not library.exists():
                    continue
                tried += 1
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                ours = f"kprobe: error: this plug-in is for LLVM {plugin}, the compiler is LLVM " \
                       f"{major}; `kprobe-config --plugin COMPILER` names the right one\n"
                right = (done.returncode, done.stderr) == (0, "") if plugin == major else \
                    done.returncode > 0 and done.stderr.startswith(ours) \
                    and "Stack dump" not in done.stderr
                if not right:
                    problems.append(f"{command[0]}, plug-in {plugin}: {done.returncode} {done.stderr}")
    print(f"{tried} pairs")
    return "\n".join(problems) if problems else 0 if tried else "no compiler"


if __name__ == "__main__":
    sys.exit(main())
