//! The process of a server.

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use crate::given::Base;

/// A process, by who started it.
#[derive(Debug)]
pub(crate) enum Process {
    /// We did.
    Child(Child),
    /// A program that forks a server for each input: it ends when nobody holds it, and they with it.
    Forked(Pid, #[expect(dead_code, reason = "it is held, not looked at")] Arc<Base>),
}

/// How long a process that ends by itself may take, in steps.
const STEPS: u32 = 50;
const STEP: Duration = Duration::from_millis(2);

impl Process {
    pub(crate) fn id(&self) -> u32 {
        match self {
            Process::Child(child) => child.id(),
            Process::Forked(pid, _) => pid.as_raw_nonzero().get().unsigned_abs(),
        }
    }

    /// Ends it if it still lives, and tells how it ended.
    pub(crate) fn bury(&mut self) -> String {
        // What ended by itself is reaped within a moment; only then it can be told from what we kill.
        for _ in 0..STEPS {
            match self {
                Process::Child(child) => match child.try_wait() {
                    Ok(Some(status)) => return describe(status),
                    Ok(None) => {}
                    Err(error) => return error.to_string(),
                },
                Process::Forked(pid, _) if test_kill_process(*pid).is_err() => {
                    return "it has ended".to_owned();
                }
                Process::Forked(..) => {}
            }
            std::thread::sleep(STEP);
        }
        self.kill();
        match self {
            Process::Child(child) => match child.wait() {
                Ok(_) => "it was stopped".to_owned(),
                Err(error) => error.to_string(),
            },
            Process::Forked(..) => "it has ended, or was stopped".to_owned(),
        }
    }

    pub(crate) fn kill(&mut self) {
        match self {
            Process::Child(child) => {
                if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    // Fails only when it is gone already.
                    let _ = kill_process_group(pid, Signal::KILL);
                }
                let _ = child.kill();
            }
            Process::Forked(pid, _) => {
                // As long as whoever forked it has not waited for it, the number is nobody else's.
                let _ = kill_process_group(*pid, Signal::KILL);
                let _ = kill_process(*pid, Signal::KILL);
            }
        }
    }

    /// Waits for its end, if that is ours to do.
    pub(crate) fn wait(&mut self) {
        if let Process::Child(child) = self {
            let _ = child.wait();
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => crate::verdict::signal_name(signal),
        (None, None) => status.to_string(),
    }
}
