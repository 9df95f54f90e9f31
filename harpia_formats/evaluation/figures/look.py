"""The colours and the shapes of marks in pictures."""

#: Colours of texts, of what is less important, of lines behind marks, and of the paper.
INK, MUTED, GRID, SURFACE = "#1f2328", "#59636e", "#d1d9e0", "#ffffff"
#: Colours and shapes of series, those of Okabe and Ito without yellow, which cannot be
#: seen on white paper.
SERIES = (
    ("#0072b2", "o"),
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
    (INK, "X"),
)
#: The colours in the place of these where a page is dark.
ON_DARK = {
    INK: "#e6edf3",
    MUTED: "#9da7b3",
    GRID: "#3d444d",
    SURFACE: "#0f1419",
    "#0072b2": "#4aa8e0",
}
