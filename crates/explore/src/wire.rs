//! The messages of the control socket as bytes.

use threadbare_abi::protocol::{Command, Reply};

/// Bytes of a message, either way.
pub(crate) const SIZE: usize = 16;

const _: () = assert!(size_of::<Command>() == SIZE && size_of::<Reply>() == SIZE);

/// The bytes of a command.
pub(crate) fn encode(command: Command) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[..4].copy_from_slice(&command.code.to_ne_bytes());
    bytes[4..8].copy_from_slice(&command.reserved.to_ne_bytes());
    bytes[8..].copy_from_slice(&command.arg.to_ne_bytes());
    bytes
}

/// The reply in these bytes.
pub(crate) fn decode(bytes: [u8; SIZE]) -> Reply {
    let [a, b, c, d, e, f, g, h, arg @ ..] = bytes;
    Reply {
        code: u32::from_ne_bytes([a, b, c, d]),
        value: i32::from_ne_bytes([e, f, g, h]),
        arg: u64::from_ne_bytes(arg),
    }
}
