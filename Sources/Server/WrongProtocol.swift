/// What a peer that speaks the wrong protocol reads before it is closed.
enum WrongProtocol {
    static let texts = (
        plainOnTLS: Array(
            "This port speaks TLS. Connect with TLS, as in: openssl s_client -quiet -connect host:port\r\n".utf8),
        requestOnTLS: Array(
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nThis port speaks TLS, and chat, not HTTP.\r\n"
                .utf8),
        tlsOnPlain: Array("This port speaks plain text, not TLS.\r\n".utf8)
    )
}
