"""Messages in cause-and-effect order, before their deadlines, over networks that lose them."""

__version__ = "0.1.0"
