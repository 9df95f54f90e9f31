"""What a conversion lost: counted, told and tabled."""
