//! Threadbare as a library: what the command line does, as calls with typed results.
//!
//! A [`Session`] has a folder for findings and carries the runtime. It builds programs, runs campaigns over them, replays, explains and
//! shrinks what they found, looks whether it has come back, and goes on with campaigns that were ended. Whoever wants to know
//! what goes on meanwhile is an [`Observer`]. Nothing here prints, and nothing reads a command line.
//!
//! ```
//! use std::ffi::OsString;
//! use threadbare_session::{Campaign, Config, Language, Session, Silent};
//!
//! let folder = tempfile::tempdir()?;
//! let source = folder.path().join("bank.c");
//! let program = folder.path().join("bank");
//! std::fs::write(
//!     &source,
//!     "#include <assert.h>
//!      #include <pthread.h>
//!      static int balance;
//!      static void *deposit(void *unused) { balance += 100; return unused; }
//!      int main(void) {
//!          pthread_t one, two;
//!          pthread_create(&one, 0, deposit, 0);
//!          pthread_create(&two, 0, deposit, 0);
//!          pthread_join(one, 0);
//!          pthread_join(two, 0);
//!          assert(balance == 200);
//!      }",
//! )?;
//!
//! let session = Session::new(folder.path().join("findings"))?;
//! let words = [OsString::from("-g"), "-pthread".into(), source.into(), "-o".into(), program.clone().into()];
//! session.build(Language::C, &words)?;
//!
//! // A campaign with the usual settings; every one of them is a field.
//! let usual = Session::usual(session.target(&program, Vec::new())?);
//! let campaign = Campaign::of(Config { races: threadbare_session::Races::Off, ..usual });
//! let report = session.run(&campaign, &mut Silent)?.report;
//! let [finding] = &report.findings[..] else { panic!("one bug: {report:?}") };
//! assert_eq!(finding.kind, "assertion");
//!
//! // Its run again, from its schedule.
//! let replayed = session.replay(finding.id.as_ref(), &mut Silent)?;
//! assert_eq!((replayed.finding.kind.as_str(), &replayed.finding.id), ("assertion", &finding.id));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod campaign;
pub mod claim;
pub mod coverage;
pub mod follow;
pub mod hide;
pub mod kept;
pub mod observer;
pub mod places;
pub mod quiet;
pub mod recording;
pub mod refine;
pub mod regress;
pub mod replay;
pub mod runtime;
pub mod session;
pub mod shrink;
pub mod trouble;
pub mod why;

pub use observer::{Observer, Silent};
pub use replay::{Replay, Replayed};
pub use session::{Campaign, Ran, Session};
pub use shrink::Shrunken;
pub use threadbare_explore::campaign::{Config, Progress};
pub use threadbare_explore::server::Target;
pub use threadbare_explore::shrink::Budget;
pub use threadbare_explore::{Leaks, Races, Search};
pub use threadbare_findings::{Finding, Suppressions};
pub use threadbare_report::CampaignReport;
pub use threadbare_report::campaign::Regressed;
pub use threadbare_toolchain::Language;
pub use trouble::{Fault, Trouble};
