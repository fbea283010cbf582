/// The directory of the database, the secret and the certificate.
package enum DataDirectory {
    /// Makes it, 0700, with what is missing above it. One that is there keeps its mode.
    package static func prepare(_ places: Places) throws(DataRefusal) {
        do {
            try Files.makeDirectories(places.dataDirectory)
        } catch {
            throw DataRefusal(description: "\(places.dataDirectory): \(error.reason)")
        }
    }
}
