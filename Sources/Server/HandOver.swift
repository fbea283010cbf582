import Synchronization

/// Carries a noncopyable value into the thread that will own it.
final class HandOver<Value: ~Copyable & Sendable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: consuming sending Value) { self.value = Mutex(value) }

    func take() -> Value { value.withLock { $0.take()! } }
}
