"""To whom a message goes by itself: one module per way."""
