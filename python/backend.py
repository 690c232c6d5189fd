"""Writes the wheel (PEP 517, PEP 427) with nothing but what Python brings, so that `pip install .` works without network.

    python3 backend.py wheel DIR [BUILD]    a wheel with libjeoul and the libraries that it needs inside
    python3 backend.py tree DIR [BUILD]     the package alone, for a distribution whose libjeoul is a package of its own
BUILD is a build of this tree (default: $JEOUL_BUILD, else ../build/release, made if it is not there)."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from generate import generate  # noqa: E402


def build_dir(build=None):
    # pip hides installed packages from its child processes; a cmake installed by pip could not import itself
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    build = Path(build or os.environ.get("JEOUL_BUILD") or HERE.parent / "build" / "release")
    if not (build / "build.ninja").exists():
        subprocess.run(["make", "-C", str(HERE.parent), "all"], check=True, stdout=sys.stderr, env=env)
    subprocess.run(["cmake", "--build", str(build), "--target", "jeoul", "portable", "--", "--quiet"], check=True, stdout=sys.stderr, env=env)
    return build


def version():
    return re.search(r"project\(jeoul VERSION ([0-9.]+)", (HERE.parent / "CMakeLists.txt").read_text()).group(1)


def package(build):
    """{name in the package: bytes} of hand-written and generated files."""
    root = HERE / "jeoul"
    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.suffix == ".py" or p.name == "py.typed"}
    files.update({name: text.encode() for name, text in generate(str(build / "jeoul")).items()})
    return files


def libraries(build):
    """libjeoul and its bundled libraries under the names the loader looks for; without debug sections if strip is available."""
    out = {}
    for path in sorted((build / "portable" / "lib").iterdir()):
        name = re.fullmatch(r"lib.*\.so\.\d+", path.name)
        if not name:
            continue
        stripped = build / "portable" / (path.name + ".stripped")
        try:
            subprocess.run(["strip", "--strip-unneeded", "-o", str(stripped), str(path.resolve())], check=True)
            out[path.name] = stripped.read_bytes()
            stripped.unlink()
        except FileNotFoundError:
            out[path.name] = path.read_bytes()
    return out


def tag(build):
    """Platform tag: manylinux by the newest glibc symbol in use; any Python 3."""
    machine = os.uname().machine
    try:
        text = subprocess.run(["objdump", "-T", *map(str, (build / "portable" / "lib").glob("lib*.so.[0-9]"))], stdout=subprocess.PIPE,
                              check=True, text=True).stdout
        newest = max(tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9]+\.[0-9]+)", text))
    except FileNotFoundError:
        newest = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")))
    return "py3-none-manylinux_%d_%d_%s" % (*newest, machine)


def metadata(tags):
    name = "jeoul-%s.dist-info" % version()
    about = re.search(r'description = "(.*)"', (HERE / "pyproject.toml").read_text()).group(1)
    return {
        name + "/METADATA": ("Metadata-Version: 2.1\nName: jeoul\nVersion: %s\nSummary: %s\nLicense: MIT\nRequires-Python: >=3.10\nProvides-Extra: frames\n"
                             'Requires-Dist: pandas; extra == "frames"\n' % (version(), about)).encode(),
        name + "/WHEEL": ("Wheel-Version: 1.0\nGenerator: jeoul\nRoot-Is-Purelib: false\nTag: %s\n" % tags).encode(),
        name + "/licenses/LICENSE": (HERE.parent / "LICENSE").read_bytes(),
    }


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = build_dir()
    tags = tag(build)
    files = {"jeoul/" + k: v for k, v in {**package(build), **libraries(build)}.items()}
    files.update(metadata(tags))
    record = "jeoul-%s.dist-info/RECORD" % version()
    rows = ["%s,sha256=%s,%d" % (k, base64.urlsafe_b64encode(hashlib.sha256(v).digest()).rstrip(b"=").decode(), len(v)) for k, v in sorted(files.items())]
    files[record] = ("\n".join(rows) + "\n%s,,\n" % record).encode()
    name = "jeoul-%s-%s.whl" % (version(), tags)
    # reproducible: the same tree gives the same bytes
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for path in [*sorted(f for f in files if f != record), record]:
            info = zipfile.ZipInfo(path, when)
            info.external_attr = (0o100755 if ".so" in path else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, files[path])
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("jeoul: a source archive is the whole tree: git archive")


def main(what, folder, build=None):
    os.makedirs(folder, exist_ok=True)
    if build:
        os.environ["JEOUL_BUILD"] = build
    if what == "wheel":
        print(Path(folder) / build_wheel(folder))
    else:
        for name, data in package(build_dir(build)).items():
            path = Path(folder) / "jeoul" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("wheel", "tree"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
