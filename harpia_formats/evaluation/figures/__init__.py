"""Pictures of scores for papers and slides, drawn by matplotlib as SVG, PNG or PDF.

Each kind of picture is a function from results to a drawing. Colours are those of Okabe
and Ito, and marks differ by shape too, so that prints in grey can be read; the ground
is transparent. Sizes follow from measured texts, so that none is on another or is cut.
What cannot be drawn, such as a group of one question, is stated in the picture. To read
in this order: `picture_files`, `drawing`, `pictures`.
"""
