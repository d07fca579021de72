"""The processes that exchange messages: members of flat groups, brokers, subscribers, the same by rounds."""
