"""Reads the files of a run and says what they mean: a summary, a verdict in words, figures and one HTML page."""
