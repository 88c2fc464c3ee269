"""Claims that vendors make, as typed: `reading` finds out what is claimed, `checking` whether it can be."""
