"""Decoding strategies behind one `Generator` interface. torch lives here, and nowhere else."""
