// LaneTransport
