"""Probes: plain functions that look at one thing and return plain data with a good repr. None of them changes what it looks at."""
