"""The keys that the result of a row has if pairs of answers are judged in both orders.

All but the winner need a verdict in both orders.
"""

#: The model that wins, 1, 0.5 or 0 for the model that is shown first, whether both
#: orders agree, and 1, 0.5 or 0 for the first place.
WINNER, WIN, CONSISTENT, FIRST_POSITION = (
    "winner",
    "win",
    "consistent",
    "first_position",
)
