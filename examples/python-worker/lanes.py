"""The records that this worker has read of each topic-partition, and the offset that the group may commit."""


class Entry:
    """One execution record: held -> started -> done, or held -> dropped if its partition goes to another worker."""

    def __init__(self, lane, offset, execution):
        self.lane, self.offset, self.execution = lane, offset, execution
        # A record that cannot be decoded has nothing to run, so the commit may pass it.
        self.state = "held" if execution else "done"


class Lane:
    def __init__(self, topic, partition):
        self.topic, self.partition = topic, partition
        self.ahead = topic.endswith(".ahead")
        self.level = ("high", "normal", "low").index(topic.removesuffix(".ahead").rsplit(".", 1)[1])
        self.owned = False
        self.paused_until = None  # ms; for an ahead lane whose first record is not due soon
        self._open = []  # entries that the commit has not passed, in offset order
        self._next = None  # offset to read next
        self._committed = -1
        self._survivors = {}  # started here before the lane was lost

    def gain(self):
        self.owned = True

    def lose(self):
        """The new worker of the partition reads again what has not started. Running attempts continue."""
        for entry in self._open:
            if entry.state == "held":
                entry.state = "dropped"
            elif entry.state != "dropped":
                self._survivors[entry.offset] = entry
        self._open, self._next, self._committed = [], None, -1
        self.owned, self.paused_until = False, None

    def take(self, offset, execution):
        """The entry to run, or None if this process has already started the record."""
        if self._next is None:
            # The group begins at its committed offset: earlier records do not come again.
            self._survivors = {at: entry for at, entry in self._survivors.items() if at >= offset}
        elif offset < self._next:
            return None
        self._next = offset + 1
        survivor = self._survivors.pop(offset, None)
        entry = survivor or Entry(self, offset, execution)
        self._open.append(entry)
        return entry if survivor is None and entry.state == "held" else None

    def committable(self):
        """The offset after the last record up to which all are done; None if it is already committed."""
        while self._open and self._open[0].state == "done":
            self._open.pop(0)
        offset = self._open[0].offset if self._open else self._next
        return offset if self.owned and offset is not None and offset > self._committed else None

    def committed(self, offset):
        self._committed = max(self._committed, offset)

    def held(self):
        return [entry for entry in self._open if entry.state == "held"]
