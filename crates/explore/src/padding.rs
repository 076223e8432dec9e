//! How long what a program is started with is made.
//!
//! Its arguments and its environment lie above its first stack, so where that begins depended on how long they are: on the folder, the terminal, who
//! starts it. Strategies that draw by addresses made other runs of the same seed then, of programs whose strands share variables on that stack. So the runtime's
//! own variable is made as long as the next of few sizes needs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Command;

/// Sizes of all texts and pointers together.
const STEP: usize = 1 << 15;

/// How many bytes are missing, where the command gets one more variable, of this name and with so many bytes. Its program is named as it is started.
pub(crate) fn missing(command: &Command, arg0: Option<&OsStr>, name: &str, bytes: usize) -> usize {
    let mut environment: BTreeMap<_, _> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => environment.insert(name.into(), value.into()),
            None => environment.remove(name),
        };
    }
    environment.remove(OsStr::new(name));
    let program = command.get_program();
    let arguments: Vec<&OsStr> = std::iter::once(arg0.unwrap_or(program)).chain(command.get_args()).collect();
    let variables: usize = environment.iter().map(|(name, value)| name.len() + 1 + value.len() + 1).sum();
    let texts = program.len()
        + 1
        + arguments.iter().map(|argument| argument.len() + 1).sum::<usize>()
        + variables
        + name.len()
        + 1
        + bytes
        + 1;
    // The kernel aligns what it puts below the texts to 16 bytes, and there is an odd number of words besides these pointers.
    let pointers = (arguments.len() + environment.len() + 1) | 1;
    let taken = texts + size_of::<usize>() * pointers;
    taken.next_multiple_of(STEP) - taken
}

#[cfg(test)]
mod tests {
    use super::{STEP, missing};
    use std::ffi::OsStr;
    use std::process::Command;

    #[test]
    fn longer_arguments_and_variables_leave_less() {
        let command = || Command::new("/bin/true");
        let bare = missing(&command(), None, "OURS", 10);
        assert!(bare < STEP);
        assert_eq!(bare, missing(&command(), Some(OsStr::new("/bin/bool")), "OURS", 10));
        assert_eq!(bare - missing(&command(), None, "OURS", 15), 5);
        // An argument's text, its end and, of every second one, two pointers.
        let mut one = command();
        one.arg("abc");
        let mut two = command();
        two.arg("abc").arg("abc");
        let (one, two) = (missing(&one, None, "OURS", 10), missing(&two, None, "OURS", 10));
        let lost = |from: usize, to: usize| (from + STEP - to) % STEP;
        assert_eq!(lost(bare, one) + lost(one, two), 4 + 4 + 16);
    }
}
