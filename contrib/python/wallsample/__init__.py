# SPDX-License-Identifier: MIT
"""Samples the process it is used in, with the installed program wallsample.

    with wallsample.Sampler(rate=200) as sampler:
        work()
    print(sampler.report.text)

In a notebook: %load_ext wallsample, then %%wallsample at the top of a cell.
"""

from typing import Any

from .errors import SamplingError
from .report import GilRow, Report
from .sampler import Sampler

__all__ = ["GilRow", "Report", "Sampler", "SamplingError", "load_ipython_extension"]
__version__ = "0.1.0"


def load_ipython_extension(shell: Any) -> None:
    """What %load_ext calls; IPython is wanted by nothing else here."""
    from .magic import WallsampleMagics

    shell.register_magics(WallsampleMagics)
