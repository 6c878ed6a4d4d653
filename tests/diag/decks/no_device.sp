a deck without devices
.op
.end
