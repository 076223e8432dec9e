use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

unsafe extern "C" {
    fn twice(value: *mut c_int) -> c_int;
}

#[derive(derive::Answer)]
pub struct Asked;

pub static CALLS: AtomicI32 = AtomicI32::new(0);

#[inline(never)]
pub fn doubled(mut value: i32) -> i32 {
    CALLS.fetch_add(1, Ordering::SeqCst);
    unsafe { twice(&mut value) }
}

/// A doctest that would fail to link.
///
/// ```
/// assert_eq!(app::doubled(2), 4);
/// ```
pub fn documented() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_code_is_called() {
        assert_eq!(doubled(21), Asked::ANSWER);
    }

    #[test]
    fn cargo_variables_are_set() {
        assert_eq!(std::env::var("CARGO_PKG_VERSION").unwrap(), "1.2.3");
        assert_eq!(std::env::var("FROM_CONFIG").unwrap(), "set by cargo's configuration");
        assert_eq!(std::env::var("FROM_BUILD_SCRIPT").unwrap(), "yes");
        let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        let here = std::env::current_dir().unwrap();
        assert_eq!(std::fs::canonicalize(manifest).unwrap(), std::fs::canonicalize(here).unwrap());
        assert!(std::env::var_os("CARGO_ENCODED_RUSTFLAGS").is_none(), "the build's own variables stay out");
        assert!(std::env::var_os("THREADBARE_CAPTURE").is_none());
    }

    #[test]
    #[ignore]
    fn ignored() {}

    #[test]
    #[cfg(from_build_table)]
    fn flag_from_build_table() {}

    #[test]
    #[cfg(from_argument)]
    fn flag_from_argument() {}

    #[test]
    #[cfg(from_environment)]
    fn flag_from_environment() {}

    #[test]
    #[cfg(feature = "extra")]
    fn with_feature() {}
}
