"""The faults, by what they touch."""
