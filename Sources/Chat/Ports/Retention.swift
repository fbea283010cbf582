/// How long, and how many of its newest messages, a conversation is kept; 0: no limit.
package struct Retention: Sendable, Equatable {
    /// Seconds.
    package var age: Int64 = 0
    package var count: Int64 = 0

    package init(age: Int64 = 0, count: Int64 = 0) {
        self.age = age
        self.count = count
    }

    package var isLimited: Bool { age > 0 || count > 0 }

    /// The narrower of both.
    package func limited(by other: Retention) -> Retention {
        func least(_ one: Int64, _ other: Int64) -> Int64 { one == 0 || other == 0 ? max(one, other) : min(one, other) }
        return Retention(age: least(age, other.age), count: least(count, other.count))
    }
}
