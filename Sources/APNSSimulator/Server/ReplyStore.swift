/// What waiting answers about channels carry, by number. Few at a time.
struct ReplyStore {
    private var replies: [ChannelReply] = []
    private var free: [Int32] = []

    /// Keeps a reply and returns its number; -1 for an empty one, which needs no place.
    mutating func insert(_ reply: ChannelReply) -> Int32 {
        guard reply != ChannelReply() else { return -1 }
        guard let number = free.popLast() else {
            replies.append(reply)
            return Int32(replies.count - 1)
        }
        replies[Int(number)] = reply
        return number
    }

    /// Takes a reply out; its number is free again.
    mutating func remove(_ number: Int32) -> ChannelReply {
        let reply = replies[Int(number)]
        replies[Int(number)] = ChannelReply()
        free.append(number)
        return reply
    }
}
