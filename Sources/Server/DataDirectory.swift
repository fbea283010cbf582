import Net

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

    /// At the first start, when none is configured: a certificate for the server's name and this machine. True when it
    /// was made now, so that its fingerprint (`certificateFingerprint`) can be told.
    package static func makeCertificate(_ places: Places) throws(DataRefusal) -> Bool {
        guard places.makesCertificate, !(Files.exists(places.certificate) && Files.exists(places.key)) else {
            return false
        }
        do {
            try makeSelfSignedCertificate(
                certificateFile: places.certificate, keyFile: places.key, commonName: places.serverName,
                alternativeNames: [places.serverName, "localhost", "127.0.0.1", "::1"])
            return true
        } catch {
            throw DataRefusal(description: error.description)
        }
    }
}
