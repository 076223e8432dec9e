//! What Rust's std does with atomics and futexes, in the words of its interface.
//!
//! A `Mutex` of std is a word in memory: locking it is a compare-and-exchange, waiting for it a futex wait. The reader
//! knows the lock; the functions around the instruction tell which call it was.

use crate::places::Place;

/// The word for an operation that is part of one of std's own, and nothing for any other.
pub fn word(operation: &str, frames: &[Place]) -> Option<&'static str> {
    if !operation.starts_with("atomic-") && !operation.starts_with("futex-") {
        return None;
    }
    frames.iter().take_while(|frame| frame.library).find_map(|frame| named(frame.function.as_deref()?))
}

fn named(function: &str) -> Option<&'static str> {
    let function = function.strip_prefix("<").unwrap_or(function);
    let last = function.rsplit("::").next().unwrap_or(function);
    let of = |name: &str| function.contains(name);
    Some(match last {
        "lock" | "lock_contended" if of("Mutex") => "lock",
        "try_lock" if of("Mutex") => "try-lock",
        "unlock" if of("Mutex") => "unlock",
        "drop" if of("MutexGuard") => "unlock",
        "read" | "read_contended" if of("RwLock") => "read-lock",
        "write" | "write_contended" if of("RwLock") => "write-lock",
        "read_unlock" | "write_unlock" if of("RwLock") => "rw-unlock",
        "drop" if of("RwLockReadGuard") || of("RwLockWriteGuard") => "rw-unlock",
        "wait" | "wait_optional_timeout" | "wait_timeout" if of("Condvar") => "cond-wait",
        "notify_one" if of("Condvar") => "cond-signal",
        "notify_all" if of("Condvar") => "cond-broadcast",
        "park" | "park_timeout" if of("Parker") || of("thread") => "park",
        "unpark" if of("Parker") || of("thread") => "unpark",
        _ => return None,
    })
}

/// Whether an access is a library's own affair: counting references, starting a thread, a flag of std's.
pub fn is_bookkeeping(operation: &str, frames: &[Place]) -> bool {
    if !["atomic-", "read", "write"].iter().any(|access| operation.starts_with(access)) {
        return false;
    }
    const OWN_AFFAIRS: [&str; 8] = [
        "::Arc",
        "::Weak",
        "alloc::sync::",
        "std::thread::",
        "std::rt::",
        "panic_count",
        "shared_ptr",
        "_Sp_counted",
    ];
    let library = || frames.iter().take_while(|frame| frame.library);
    library().any(|frame| {
        let function = frame.function.as_deref().unwrap_or_default();
        OWN_AFFAIRS.iter().any(|name| function.contains(name))
    })
    // The flag that says whether a lock is poisoned.
    || operation == "atomic-load" && word(operation, frames).is_some()
}

/// Whether an access is to what a channel or a future of the language's library is made of: in which order strands come to
/// them says little, but for who sent what.
pub fn is_channel(frames: &[Place]) -> bool {
    const CHANNELS: [&str; 3] = ["std::sync::mpmc::", "std::sync::mpsc::", "__future_base"];
    let within = |frame: &Place| {
        let function = frame.function.as_deref().unwrap_or_default();
        CHANNELS.iter().any(|name| function.contains(name))
    };
    frames.iter().take_while(|frame| frame.library).any(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(functions: &[&str]) -> Vec<Place> {
        let library = |function: &&str| Place {
            function: Some((*function).to_owned()),
            library: true,
            ..Place::default()
        };
        let own = Place { function: Some("bank::Mutex::lock".into()), ..Place::default() };
        functions.iter().map(library).chain([own]).collect()
    }

    #[test]
    fn the_call_is_told_by_the_functions_around_it() {
        let lock = frames(&[
            "core::sync::atomic::atomic_compare_exchange",
            "std::sys::sync::mutex::futex::Mutex::lock",
            "std::sync::poison::mutex::Mutex::lock",
        ]);
        assert_eq!(word("atomic-cas", &lock), Some("lock"));
        let spawn = frames(&["core::ptr::write", "std::thread::scoped::Scope::spawn"]);
        assert!(is_bookkeeping("write-range", &spawn));
        assert!(!is_bookkeeping("atomic-cas", &lock) && is_bookkeeping("atomic-load", &lock));
        let wait = frames(&[
            "std::sys::pal::unix::futex::futex_wait",
            "std::sys::sync::mutex::futex::Mutex::lock_contended",
        ]);
        assert_eq!(word("futex-wait", &wait), Some("lock"));
        assert_eq!(word("write", &lock), None);
        let sent =
            frames(&["core::sync::atomic::atomic_load", "std::sync::mpmc::list::Channel<T>::start_recv"]);
        assert!(is_channel(&sent) && !is_channel(&lock));
        // The program's own functions are not std's, whatever their names.
        assert_eq!(word("atomic-cas", &frames(&["core::sync::atomic::AtomicU32::swap"])), None);
        assert!(is_bookkeeping(
            "atomic-rmw",
            &frames(&["<alloc::sync::Arc<T> as core::clone::Clone>::clone"])
        ));
    }
}
