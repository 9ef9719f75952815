"""How often what the package says is false, where the truth is known."""
