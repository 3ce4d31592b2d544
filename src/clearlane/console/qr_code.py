"""QR codes as pictures in a page: one SVG path, no style and no script.

The encoder is that of the library that writes our PDF files. Knows no page.
"""

from reportlab.graphics.barcode.qrencoder import QRCode, QRErrorCorrectLevel

QUIET_MODULES = 4
"""The light border that readers need."""


def qr_path(text: str) -> tuple[str, int]:
    """Return the path of the dark squares, and the width of the picture in squares."""
    code = QRCode(None, QRErrorCorrectLevel.M)
    code.addData(text)
    code.make()
    count: int = code.getModuleCount()  # type: ignore[no-untyped-call]
    squares = (
        f"M{column + QUIET_MODULES} {row + QUIET_MODULES}h1v1h-1z"
        for row in range(count)
        for column in range(count)
        if code.isDark(row, column)  # type: ignore[no-untyped-call]
    )
    return "".join(squares), count + 2 * QUIET_MODULES
