/// What a connection reads whose network has too many already.
enum Crowded {
    static let text = Array("ERROR :Too many connections from your network; try again later\r\n".utf8)
}
