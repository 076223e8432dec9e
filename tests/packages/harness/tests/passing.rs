//! libtest passes all of these.

use harness::two;

#[test]
fn plain() {
    assert_eq!(two(), 2);
}

/// The same, so that the points of both can be compared.
#[threadbare::test]
fn checked() {
    assert_eq!(two(), 2);
}

#[test]
fn gives_a_result() -> Result<(), String> {
    if two() == 2 { Ok(()) } else { Err("lost".to_owned()) }
}

#[test]
#[should_panic]
fn panics() {
    assert_eq!(two(), 3);
}

#[test]
#[should_panic(expected = "three")]
fn panics_with_these_words() {
    assert_eq!(two(), 3, "not three");
}

/// A test that catches what panics has passed.
#[test]
fn catches() {
    assert!(std::panic::catch_unwind(|| assert_eq!(two(), 3)).is_err());
}
