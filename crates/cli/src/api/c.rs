//! placeholder
pub(crate) struct Header;
