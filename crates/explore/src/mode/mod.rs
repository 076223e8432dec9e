//! How a campaign's runs are made: under control, or with strands that run free.
//!
//! What is different between them is here, behind [`RunMode`]; nobody else asks which of them it is.

mod controlled;
pub(crate) mod free;

pub use controlled::Controlled;
pub use free::Free;

use crate::campaign::Config;
use crate::error::Error;
use crate::ledger::Ticket;
use crate::outcome::Outcome;
use crate::patience::Pace;
use crate::predict::Tried;
use crate::server::Target;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use threadbare_coverage::tasks::Seen;
use threadbare_strategy::Spec;
use threadbare_trace::report::Module;

/// A way to make runs.
pub trait RunMode: Makes + fmt::Debug + Send + Sync {
    /// What the runtime is told of it when the program is started.
    fn announced(&self, target: &Target) -> String;

    /// Processors that a run may use at a time.
    fn processors(&self) -> u32;

    /// Whether all choices in a run are made by whoever asks for it: such runs are the same again, can be told what to do, and each has a class.
    fn makes_choices(&self) -> bool;

    /// A strategy's parameters in the plan of a run.
    fn params(&self, config: &Config, strategy: &Spec) -> [u64; 8];

    /// Who decides, in words: in the runs of a strategy, or in the whole campaign.
    fn decider(&self, config: &Config, strategy: Option<&Spec>) -> String;

    /// Who goes on, under control, where the choices of a run of this strategy are not all there.
    fn follower(&self, strategy: Spec) -> Spec;

    /// Whether it is noted which functions were interrupted.
    fn covers_tasks(&self, _config: &Config) -> bool {
        false
    }
}

/// Who is asked whether the details of what a run showed are wanted: the run, and the keys.
pub(crate) type Wants<'a> = &'a dyn Fn(u64, &[u64]) -> Vec<bool>;

/// The part of a mode that the campaign alone calls.
pub trait Makes {
    /// What is found out before the first run.
    fn first_look(&self, _config: &Config, _cancel: &Arc<AtomicBool>) -> Result<FirstLook, Error> {
        Ok(FirstLook::default())
    }

    /// Who makes the runs of a job, on the thread that calls.
    fn maker<'a>(
        &self,
        config: &'a Config,
        number: usize,
        cancel: &Arc<AtomicBool>,
        pace: &Arc<Pace>,
    ) -> Box<dyn Maker + 'a>;
}

/// What is known before the first run.
#[derive(Debug, Default)]
pub struct FirstLook {
    /// Accesses that are shared.
    pub(crate) learnt: Vec<u64>,
    pub(crate) modules: Vec<Module>,
    /// The functions, none of them covered.
    pub(crate) functions: Option<Seen>,
}

/// Makes the runs of one job.
pub trait Maker {
    /// Whether several can be asked for at a time.
    fn takes_several(&self) -> bool {
        false
    }

    /// Makes the first ones of these runs of an epoch with one command; none, if the first has to be made by itself.
    fn several(&mut self, _tickets: &[Ticket], _wants: Wants<'_>) -> Vec<Result<Made, Error>> {
        Vec::new()
    }

    /// Makes what one ticket asks for.
    fn one(&mut self, ticket: &Ticket, wants: Wants<'_>) -> Result<Made, Error>;
}

/// What was made for a ticket.
pub enum Made {
    /// A run.
    Run(Box<Outcome>),
    /// Tries of a predicted deadlock.
    Tried(Tried),
}
