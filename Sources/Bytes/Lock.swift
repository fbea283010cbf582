#if canImport(Glibc)
    import Glibc
#endif

/// A value behind a pthread mutex.
///
/// Not `Synchronization.Mutex`: Thread Sanitizer does not see its futex and calls every access a race, and being clean
/// under it is how this house knows that its threads are right.
///
/// Unchecked, because the compiler cannot see that `value` is touched under the mutex only: it is private to this file.
package final class Lock<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    package init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// What `body` returns must not share state with the value, hence `Sendable`.
    package func withLock<R: Sendable>(_ body: (inout Value) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
