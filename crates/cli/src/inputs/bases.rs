//! Programs that stand before their `main` without an input: one for each number of arguments.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::Arc;
use threadbare_explore::Error;
use threadbare_explore::given::{Base, Given};
use threadbare_explore::server::Target;
use threadbare_inputs::Template;

/// Different numbers of arguments that have such a program at a time.
const MOST: usize = 16;

/// The programs of a campaign.
pub(super) struct Bases {
    by_args: HashMap<usize, Arc<Base>>,
    /// The variables that inputs have.
    env: Vec<OsString>,
    /// Every input has a program of its own.
    off: bool,
    /// Why, if that was not told yet.
    why: Option<String>,
}

impl Bases {
    pub(super) fn of(template: &Template) -> Bases {
        let env = template.env.iter().map(|(name, _)| OsString::from(name)).collect();
        Bases { by_args: HashMap::new(), env, off: false, why: None }
    }

    /// Who the target's input is given to; `None` if its program is to be started with it.
    pub(super) fn given(&mut self, target: &Target) -> Option<Given> {
        if self.off || !target.mode.makes_choices() {
            return None;
        }
        let args = target.args.len();
        if !self.by_args.contains_key(&args) {
            if self.by_args.len() >= MOST {
                self.by_args.clear();
            }
            let why = match Base::start(target, &self.env) {
                Ok(base) => match base.read_early() {
                    None => {
                        self.by_args.insert(args, Arc::new(base));
                        None
                    }
                    Some(why) => Some(why.to_owned()),
                },
                Err(Error::DiedEarly { end, .. }) => {
                    Some(format!("without its input, the program ends before `main` ({end})"))
                }
                // Whoever starts the program with its input tells what is wrong.
                Err(_) => {
                    self.off = true;
                    return None;
                }
            };
            if let Some(why) = why {
                self.off = true;
                self.why = Some(format!("each input has a program of its own: {why}"));
                return None;
            }
        }
        let base = self.by_args.get(&args).filter(|base| base.takes(target))?;
        Some(Given { env: self.env.clone(), base: Some(Arc::clone(base)) })
    }

    /// Why inputs have programs of their own; once.
    pub(super) fn trouble(&mut self) -> Option<String> {
        self.why.take()
    }
}
