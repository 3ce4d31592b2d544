"""QR codes as pictures in a page: one SVG path, no style and no script. Knows no page."""

import segno

QUIET_MODULES = 4
"""The light border that readers need."""


def qr_path(text: str) -> tuple[str, int]:
    """Return the path of the dark squares, and the width of the picture in squares."""
    code = segno.make_qr(text, error="m")
    squares = (
        f"M{column + QUIET_MODULES} {row + QUIET_MODULES}h1v1h-1z"
        for row, modules in enumerate(code.matrix)
        for column, is_dark in enumerate(modules)
        if is_dark
    )
    return "".join(squares), len(code.matrix) + 2 * QUIET_MODULES
