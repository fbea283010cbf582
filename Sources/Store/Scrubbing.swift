import CSQLite
import Glibc

/// When SQLite distributes cells among pages it leaves old copies in the unused middle of a page, `secure_delete` or
/// not. This file system layer blanks that middle as pages are written to the database file, so that a text which is
/// erased from its row is nowhere in the file. The write-ahead log, whose checksums forbid it, is emptied instead.
enum Scrubbing {
    /// The name to open a database by; nil, SQLite's own, when it could not be registered.
    static var layer: String? { isRegistered ? name : nil }

    fileprivate static let name = "parley"

    private static let isRegistered: Bool = {
        guard let original = sqlite3_vfs_find(nil), let name = strdup(name) else { return false }
        // For the life of the process, as SQLite keeps the pointer.
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        layer.initialize(to: original.pointee)
        layer.pointee.zName = UnsafePointer(name)
        layer.pointee.xOpen = openScrubbed
        return sqlite3_vfs_register(layer, 0) == SQLITE_OK
    }()

    /// File format, 1.6 B-tree Pages: between the cell pointers and the cells. nil: no such page, or nothing is unused.
    static func middle(of page: UnsafeRawBufferPointer, isFirst: Bool) -> Range<Int>? {
        let header = isFirst ? 100 : 0
        guard page.count >= 512, page.count & (page.count - 1) == 0 else { return nil }
        func number(_ at: Int) -> Int { Int(page[header + at]) << 8 | Int(page[header + at + 1]) }
        let headerSize: Int
        switch page[header] {
        case 2, 5: headerSize = 12
        case 10, 13: headerSize = 8
        default: return nil
        }
        let start = header + headerSize + 2 * number(3)
        let end = number(5) == 0 ? 65_536 : number(5)
        return start < end && end <= page.count ? start..<end : nil
    }

    static func hasSmallNumbers(_ size: Int64, pageSize: Int32) -> Bool { size < Int64(pageSize) << 25 }
}

/// What a file's methods point to: SQLite sees the first field.
private struct ScrubbedFile {
    var methods: sqlite3_io_methods
    var original: UnsafePointer<sqlite3_io_methods>

    static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<ScrubbedFile> {
        UnsafeMutableRawPointer(mutating: file.pointee.pMethods).assumingMemoryBound(to: ScrubbedFile.self)
    }
}

private func openScrubbed(
    layer: UnsafeMutablePointer<sqlite3_vfs>?, name: UnsafePointer<CChar>?, file: UnsafeMutablePointer<sqlite3_file>?,
    flags: Int32, granted: UnsafeMutablePointer<Int32>?
) -> Int32 {
    guard let original = sqlite3_vfs_find(nil), let file else { return SQLITE_CANTOPEN }
    let code = original.pointee.xOpen(original, name, file, flags, granted)
    guard code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let methods = file.pointee.pMethods else { return code }
    let own = UnsafeMutablePointer<ScrubbedFile>.allocate(capacity: 1)
    own.initialize(to: ScrubbedFile(methods: methods.pointee, original: methods))
    own.pointee.methods.xWrite = writeScrubbed
    own.pointee.methods.xClose = closeScrubbed
    file.pointee.pMethods = UnsafeRawPointer(own).assumingMemoryBound(to: sqlite3_io_methods.self)
    return code
}

private func closeScrubbed(file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let file else { return SQLITE_MISUSE }
    let own = ScrubbedFile.of(file)
    let original = own.pointee.original
    file.pointee.pMethods = original
    own.deallocate()
    return original.pointee.xClose(file)
}

private func writeScrubbed(
    file: UnsafeMutablePointer<sqlite3_file>?, bytes: UnsafeRawPointer?, count: Int32, offset: Int64
) -> Int32 {
    guard let file, let bytes else { return SQLITE_MISUSE }
    let write = ScrubbedFile.of(file).pointee.original.pointee.xWrite!
    let page = UnsafeRawBufferPointer(start: bytes, count: Int(count))
    guard offset % Int64(count) == 0, let middle = Scrubbing.middle(of: page, isFirst: offset == 0),
        page[middle].contains(where: { $0 != 0 }), hasCellsForSure(file, count)
    else { return write(file, bytes, count, offset) }
    return withUnsafeTemporaryAllocation(byteCount: Int(count), alignment: 8) { copy in
        copy.copyMemory(from: page)
        for at in middle { copy[at] = 0 }
        return write(file, copy.baseAddress, count, offset)
    }
}

/// Whether what begins as a page of cells is one. An overflow page and one of the freelist begin with the number of the
/// next one, whose first byte is 2 or more only in a file of 2^25 pages. The pages of pointers that `auto_vacuum` makes
/// begin with the same numbers as pages of cells, so of such a file nothing is blanked.
private func hasCellsForSure(_ file: UnsafeMutablePointer<sqlite3_file>, _ pageSize: Int32) -> Bool {
    let original = ScrubbedFile.of(file).pointee.original.pointee
    var size: Int64 = 0
    guard original.xFileSize(file, &size) == SQLITE_OK, Scrubbing.hasSmallNumbers(size, pageSize: pageSize) else {
        return false
    }
    // File format, 1.3 The Database Header: the largest root page, which is 0 without auto_vacuum.
    var root: UInt32 = 0
    let code = original.xRead(file, &root, 4, 52)
    return code == SQLITE_OK && root == 0
}
