"""The protocols, without I/O. A machine is told the time and handed frames; it answers with effects.

The whole of a driver, in ten lines; `sim/driver.py` and `live/node.py` are these lines with their own network, clock
and records. `network` yields what happens next: a frame arriving, or (frame None) the moment a machine asked for.

    for now_us, name, sender, frame in network:
        machine = machines[name]
        if frame is None:
            effects = machine.wake(now_us)
        else:
            effects = machine.receive(frame, sender, now_us)
        for effect in effects:
            if isinstance(effect, Send):
                network.send(name, effect.to, effect.frame, now_us)
            else:
                records.write(name, effect, now_us)
        network.wake_at(name, machine.next_wake())

Where to read on: `machine` (the face), `tier` (the rules all roles share), `inbox` (every decision to deliver, hold or
discard), `order/` (how causality is written and read), `spread/` (to whom messages go by themselves, how gaps are found
and filled), then the roles: `member` (flat groups), `broker` and `subscriber`, the same by rounds (`round_clock`,
`round_broker`, `round_subscriber`), `home_broker` and `client`; `recipes` puts them together. `printed/` holds the
papers' text as it stands.
"""
