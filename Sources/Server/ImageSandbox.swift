import Bytes
import CSystem
import Glibc
import Images

/// The child's side of checking a picture: `parley image-worker MEGAPIXELS`, started by the server for one picture. It
/// gives up all rights before it reads the first byte: it can read what it was given, write its answer and take memory
/// up to a limit; any other system call ends it.
enum ImageSandbox {
    static let verb = "image-worker"

    /// First byte of the answer.
    enum Answer {
        /// Then kind, width and height (four bytes each, least first), and the picture.
        static let clean: UInt8 = 0
        static let unknown: UInt8 = 1
        /// Then the reason in words.
        static let broken: UInt8 = 2
        static let tooLarge: UInt8 = 3
        /// The rights could not be given up.
        static let open: UInt8 = 4
    }

    static let headerBytes = 10
    private static let memory: rlim_t = 512 << 20
    private static let seconds: rlim_t = 10

    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 3, let megapixels = Int(arguments[2]), 1...10_000 ~= megapixels else {
            return Exit.usage
        }
        var status = stat()
        let size = fstat(STDIN_FILENO, &status) == 0 ? Int(status.st_size) : 0
        guard giveUpRights() else {
            reply([Answer.open])
            return Exit.failure
        }
        check(readAll(size), megapixels)
        _exit(0)
    }

    private static func check(_ bytes: [UInt8], _ megapixels: Int) {
        let limits = ImageLimits(pixels: megapixels * 1_000_000)
        let result = bytes.withUnsafeBytes { bytes -> Result<CleanImage, ImageFault> in
            do throws(ImageFault) { return .success(try cleanImage(ByteView(bytes), limits)) } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let image):
            var header = [Answer.clean, image.kind.rawValue]
            for number in [image.width, image.height] {
                for shift in 0..<4 { header.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
            }
            reply(header)
            reply(image.bytes)
        case .failure(.unknown): reply([Answer.unknown])
        case .failure(.broken(let why)): reply([Answer.broken] + Array(why.utf8))
        case .failure(.tooLarge(let why)): reply([Answer.tooLarge] + Array(why.utf8))
        }
    }

    /// `size` is what a file has; of anything else it is found out.
    private static func readAll(_ size: Int) -> [UInt8] {
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { room, count in
            while count < size {
                let got = read(STDIN_FILENO, room.baseAddress! + count, size - count)
                if got <= 0 { return }
                count += got
            }
        }
        return bytes + ((try? Files.readAll(STDIN_FILENO, limit: .max)) ?? [])
    }

    private static func reply(_ bytes: [UInt8]) { try? Files.writeAll(STDOUT_FILENO, bytes) }

    // MARK: Rights

    private static func giveUpRights() -> Bool {
        let limits: [(__rlimit_resource_t, rlim_t)] = [
            (__rlimit_resource_t(RLIMIT_AS.rawValue), memory), (__rlimit_resource_t(RLIMIT_CPU.rawValue), seconds),
            (__rlimit_resource_t(RLIMIT_FSIZE.rawValue), 0), (__rlimit_resource_t(RLIMIT_CORE.rawValue), 0),
            (__rlimit_resource_t(RLIMIT_NOFILE.rawValue), 0),
        ]
        for (resource, most) in limits {
            var limit = rlimit(rlim_cur: most, rlim_max: most)
            guard setrlimit(resource, &limit) == 0 else { return false }
        }
        guard shim_prctl(PR_SET_DUMPABLE, 0, nil) == 0, shim_prctl(PR_SET_NO_NEW_PRIVS, 1, nil) == 0 else {
            return false
        }
        var program = systemCallFilter()
        return program.withUnsafeMutableBufferPointer { instructions in
            var filter = sock_fprog(len: UInt16(instructions.count), filter: instructions.baseAddress)
            return shim_prctl(PR_SET_SECCOMP, UInt(SECCOMP_MODE_FILTER), &filter) == 0
        }
    }

    /// seccomp(2): the call's number is the first word of what the filter sees, the architecture the second.
    private static func systemCallFilter() -> [sock_filter] {
        #if arch(x86_64)
            let architecture: UInt32 = 0xC000_003E
            let allowed = [
                SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise,
                SYS_futex, SYS_rt_sigreturn, SYS_getrandom,
            ]
        #elseif arch(arm64)
            let architecture: UInt32 = 0xC000_00B7
            let allowed = [
                SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise,
                SYS_futex, SYS_rt_sigreturn, SYS_getrandom,
            ]
        #endif
        let loadWord = UInt16(BPF_LD | BPF_W | BPF_ABS)
        let jumpIfEqual = UInt16(BPF_JMP | BPF_JEQ | BPF_K)
        let give = UInt16(BPF_RET | BPF_K)
        let kill: UInt32 = 0x8000_0000
        let allow: UInt32 = 0x7FFF_0000
        var program = [
            sock_filter(code: loadWord, jt: 0, jf: 0, k: 4),
            sock_filter(code: jumpIfEqual, jt: 1, jf: 0, k: architecture),
            sock_filter(code: give, jt: 0, jf: 0, k: kill),
            sock_filter(code: loadWord, jt: 0, jf: 0, k: 0),
        ]
        for (index, call) in allowed.enumerated() {
            // Behind the comparisons stands the end of who matched none, then of who did.
            let distance = UInt8(allowed.count - index)
            program.append(sock_filter(code: jumpIfEqual, jt: distance, jf: 0, k: UInt32(call)))
        }
        program.append(sock_filter(code: give, jt: 0, jf: 0, k: kill))
        program.append(sock_filter(code: give, jt: 0, jf: 0, k: allow))
        return program
    }
}
