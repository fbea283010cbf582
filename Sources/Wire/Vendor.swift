/// What is Parley's own carries this prefix: capabilities, tags, tokens.
package enum Vendor {
    package static let prefix: StaticString = "parley.chat/"
}
