/// Sizes of lines in bytes (IRCv3 message-tags, "Size limit").
package enum LineLimits {
    /// A message without its tags, CR LF included.
    package static let message = 512
    /// Tag data from a client, without the `@` and the space.
    package static let clientTags = 4094
    /// All tags of a line that the server sends, with the `@` and the space.
    package static let serverTags = 8191
    /// A whole line from a client.
    package static let clientLine = clientTags + 2 + message
    /// `IMG DATA` without terminator.
    package static let extended = 8191
}
