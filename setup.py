"""`pip install .`: CMake builds the compiled half of the package (Debian's packages of scripts/packages are needed)."""

import os
import pathlib
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


def version():
    return re.search(r"project\(bntt VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        build = pathlib.Path(self.build_temp).resolve()
        destination = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve().parent
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DBNTT_PYTHON=ON", f"-DBNTT_PYTHON_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "bntt_python", "-j", str(os.cpu_count())], check=True)
        destination.mkdir(parents=True, exist_ok=True)
        built = next((build / "python" / "bntt").glob("_bntt.*.so"))
        self.copy_file(str(built), str(destination / built.name))


setup(version=version(), ext_modules=[Extension("bntt._bntt", sources=[])], cmdclass={"build_ext": CMakeBuild})
