//! Small types with a fault each (`Bad…`), as such types have had it, and their right twins. `tests/tests/api.rs` lets
//! `cargo threadbare generate` write tests for them.

mod attempt;
mod gate;
mod notify;
mod once;
mod oneshot;
mod semaphore;
mod shared;
mod spin;
mod stealer;
mod stock;

pub use attempt::{Attempt, BadAttempt};
pub use gate::{BadGate, Gate};
pub use notify::{BadNotify, Notify};
pub use once::{BadOnce, Once};
pub use oneshot::{BadReceiver, BadSender, Receiver, Sender, bad_oneshot, oneshot};
pub use semaphore::{BadSemaphore, Semaphore};
pub use shared::{BadShared, Shared};
pub use spin::{BadSpin, BadSpinGuard, Order, Released, Spin, SpinGuard, Unordered};
pub use stealer::{BadStealer, BadWorker, Stealer, Worker};
pub use stock::{BadStock, Stock};
