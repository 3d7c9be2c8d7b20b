"""Builds a program: without and with the plug-in, and for the host.

An object is built once for all runs that would build it the same: beside each lies
a stamp of its command, its source, our headers and the plug-in. Headers of the
checkout and the compilers are taken to stay; remove the work folder if they do not.
"""
import hashlib
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent

# Command, and the name by which kprobe-config knows its plug-in.
COMPILERS = {
    "hipcc": (["hipcc"], "clang-15"),
    "clang-19": ([HERE.parents[1] / "tools/hipclang", "19", "-x", "hip"], "clang-19"),
}
DEVICE_FLAGS = ["-O3", "-w", "-gline-tables-only"]
HOST_COMPILER = ["g++", "-x", "c++", "-std=gnu++17", "-O2", "-fpermissive", "-w",
                 f"-I{HERE / 'host'}"]
# The reference's arithmetic is the source's, or with products and sums made one
# operation, as the device's compiler may.
HOST_VARIANTS = {"host": ["-ffp-contract=off"], "contracted": ["-ffp-contract=fast", "-mfma"]}


class BuildError(Exception):
    """One program cannot be built."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "(no output)"


def ours(word, home):
    """A path of the checkout, or of ours when it begins with kprobe:."""
    name = word.removeprefix("kprobe:")
    return HERE / name if name != word else home / word


def content(paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(pathlib.Path(path).read_bytes())
    return digest.hexdigest()


class Builder:
    def __init__(self, rodinia, work, compiler, arch, plugin, environment, pass_options=None):
        """plugin: None when there will be no traced build."""
        self.rodinia, self.work, self.arch = rodinia, work, arch
        self.compiler, self.compiler_name, self.plugin = COMPILERS[compiler][0], compiler, plugin
        self.pass_options = pass_options
        self.environment = {**environment, "KPROBE_PASS": pass_options} if pass_options \
            else environment
        headers = sorted(HERE.glob("*.h")) + sorted(HERE.glob("host/**/*.h"))
        self.headers = content(headers)
        self.plugin_content = content([plugin]) if plugin else ""

    def folder(self, variant):
        place = "host" if variant in HOST_VARIANTS else f"{self.compiler_name}-{self.arch}"
        if variant == "traced" and self.pass_options:
            variant += "-" + re.sub(r"[^\w=]", "_", self.pass_options)
        return self.work / "build" / place / variant

    def objects(self, program, variant):
        return self.folder(variant) / f"{program.name}.objects"

    def home(self, program):
        return self.rodinia / "hip" / program.folder

    def includes(self, program):
        return [f"-I{self.home(program) / include}" for include in program.includes]

    def device_command(self, program, variant):
        """Compiles a source for the device and the host; without -c, source and -o."""
        return self.with_flags(program, variant, [*self.compiler, f"--offload-arch={self.arch}",
                                                  *DEVICE_FLAGS])

    def with_flags(self, program, variant, command):
        home = self.home(program)
        command = command + self.includes(program)
        command += [ours(flag, home) if flag.startswith("kprobe:") else flag
                    for flag in program.flags]
        if variant == "traced":
            command.append(f"-fpass-plugin={self.plugin}")
        return command

    def build(self, program, variant):
        """Returns the executable; BuildError with the compiler's last words."""
        home, includes = self.home(program), self.includes(program)
        executable = self.folder(variant) / program.name
        linked = []

        # All variants share the objects of the C sources.
        for number, source in enumerate(program.c_sources):
            linked.append(self.work / "build/c" / program.name / f"{number}.o")
            self.compile(["gcc", "-O2", "-w", *program.c_flags, *includes], ours(source, home),
                         linked[-1])
        if variant in HOST_VARIANTS:
            command = self.with_flags(program, variant, HOST_COMPILER + HOST_VARIANTS[variant])
            link = ["g++"]
        else:
            command = self.device_command(program, variant)
            link = ["hipcc", f"--offload-arch={self.arch}"]
        for number, source in enumerate(program.sources):
            linked.append(self.objects(program, variant) / f"device{number}.o")
            self.compile(command, ours(source, home), linked[-1])
        self.call([*link, *linked, "-lm", "-o", executable], executable.parent)
        return executable

    def compile(self, command, source, result):
        stamp_file = result.with_suffix(".stamp")
        plugin = self.plugin_content if any("-fpass-plugin" in str(word) for word in command) \
            else ""
        stamp = "\n".join([*map(str, command), content([source]), self.headers, plugin])
        if result.exists() and stamp_file.exists() and stamp_file.read_text("utf-8") == stamp:
            return
        result.parent.mkdir(parents=True, exist_ok=True)
        stamp_file.unlink(missing_ok=True)
        self.call([*command, "-c", source, "-o", result], result.parent)
        stamp_file.write_text(stamp, "utf-8")

    def call(self, command, folder):
        result = subprocess.run([str(word) for word in command], cwd=folder, check=False,
                                capture_output=True, text=True, env=self.environment,
                                stdin=subprocess.DEVNULL)
        if result.returncode:
            errors = [line for line in result.stderr.splitlines() if "error" in line]
            raise BuildError("build: " + (errors[0] if errors else last_line(result.stderr)))
