"""The protocol `home`: clients publish through one broker and read one numbered stream from it."""
