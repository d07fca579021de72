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

The modules beside this file are the contract: `machine` (the face), `message`, `frames`, `effects`, and what names,
topics, filters and entries may be. The rooms: `order/` (how causality is written and read), `deadline/` (every decision
to deliver, hold or discard), `spread/` (to whom messages go by themselves), `repair/` (how gaps are found and filled),
`begin/` (where a process starts), `roles/` (members, brokers, subscribers), `home/` (the broker and the client of
`home`), `membership/` (who is there), `state/` (machines as plain values), `printed/` (the papers' text as it stands).
`recipes` puts them together.
"""
