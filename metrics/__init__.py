"""What an output is worth and how long it took: pure functions of token ids, text and seconds."""
