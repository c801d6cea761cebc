# SPDX-License-Identifier: MIT
"""The one exception of the package."""

from typing import List


class SamplingError(Exception):
    """Nothing was sampled, or nothing could be made of it.

    The text is what wallsample said on standard error, if it said something.
    """

    def _render_traceback_(self) -> List[str]:
        """IPython shows this in place of a traceback: the sentence is all there is to know."""
        return [str(self)]
