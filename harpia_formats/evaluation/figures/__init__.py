"""Pictures of scores for papers and slides, drawn by matplotlib as SVG or PNG.

Each kind of picture is a function from results to a drawing. Colours are those of Okabe
and Ito, and marks differ by shape too, so that prints in grey can be read. What cannot
be drawn, such as a group of one question, is said in the picture. To read in this
order: `picture_kinds`, `picture_files`, `drawing`, then the modules of the kinds.
"""
