package enum Version {
    package static let string = "0.1.0"
}
