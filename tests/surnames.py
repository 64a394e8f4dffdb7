"""Names for pages and notes that tests make."""

SURNAMES = [
    "Abel",
    "Brandt",
    "Curie",
    "Danton",
    "Eco",
    "Frisch",
    "Gauss",
    "Hopper",
    "Ibsen",
    "Joyce",
    "Kant",
    "Lorca",
    "Mann",
    "Noether",
    "Orwell",
]
