//! Inputs that are given to a program that stands before its `main`.
//!
//! Starting a program costs more than most of its runs: loading, relocating, what constructors and the runtime set up. A campaign over many inputs starts it once, as a
//! [`Base`] with empty texts in place of its arguments and of the variables that an input has; a server for an input is a fork of that, which gets the texts before
//! anybody has looked at them. What is in memory, and where, is the same for all inputs then, and a replay starts its program in the same way.
//!
//! Where a constructor looks at arguments, variables or standard input, it does so before there are any: the runtime notices ([`Base::read_early`]), and
//! each input has a program of its own, as if nothing of this were there.

use crate::error::Error;
use crate::process::Process;
use crate::processors;
use crate::server::{Message, Parts, Server, Target};
use crate::wire;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::Pid;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use threadbare_abi::layout::REPORT_SIZE;
use threadbare_abi::protocol::{Command, Reply};

/// What of a target is given when its program stands before `main`: all arguments, standard input, and these variables.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The variables' names.
    pub env: Vec<OsString>,
    /// Who is forked; whoever starts a server starts one of its own if this is `None`.
    pub base: Option<Arc<Base>>,
}

/// A program without an input.
#[derive(Debug)]
pub struct Base {
    server: Mutex<Server>,
    args: usize,
    env: Vec<OsString>,
    stdin: bool,
    read_early: i32,
}

/// The longest text, and how many bytes all of them may have.
const LONGEST: usize = 128 << 10;
/// Variables that are read when the program is loaded.
const LOADERS: [&str; 3] = ["LD_", "GLIBC_", "MALLOC_"];
/// How long a fork may take.
const PATIENCE: Duration = Duration::from_secs(60);

impl Given {
    /// A server of this target; `None` if its program has to be started for it.
    pub(crate) fn server(&self, target: &Target, cancel: &Arc<AtomicBool>) -> Option<Result<Server, Error>> {
        if !target.mode.makes_choices() {
            return None;
        }
        let base = match &self.base {
            Some(base) => Arc::clone(base),
            None => Arc::new(Base::start(target, &self.env).ok()?),
        };
        (base.read_early().is_none() && base.takes(target)).then_some(())?;
        base.fork(target, cancel).transpose()
    }
}

impl Base {
    /// Starts the program of a target without its input, of which these variables are a part. It ends with the calling thread.
    pub fn start(target: &Target, env: &[OsString]) -> Result<Base, Error> {
        let early = env.iter().any(|name| name.to_str().is_none_or(|name| !is_plain(name)));
        let stdin = target.stdin.as_ref().map(|_| target.program.clone());
        let mut bare =
            Target { args: vec![OsString::new(); target.args.len()], stdin, given: None, ..target.clone() };
        bare.env.retain(|(name, _)| !env.contains(name));
        bare.env.extend(env.iter().map(|name| (name.clone(), OsString::new())));
        let names = env.join(OsStr::new(":"));
        let more = format!(",given={},names={}", target.args.len() + 1, names.to_string_lossy());
        let server = Server::launch(&bare, Arc::default(), &more)?;
        let read_early = if early { Reply::READ_ENV } else { server.read_early };
        let (args, env) = (target.args.len(), env.to_vec());
        Ok(Base { server: Mutex::new(server), args, env, stdin: target.stdin.is_some(), read_early })
    }

    /// What the program reads before its `main`, if that is part of an input, in words.
    pub fn read_early(&self) -> Option<&'static str> {
        let read = |what| self.read_early & what != 0;
        match () {
            () if read(Reply::READ_ARGS) => Some("a constructor of the program reads its arguments"),
            () if read(Reply::READ_ENV) => Some("a variable of the input is read before `main`"),
            () if read(Reply::READ_STDIN) && self.stdin => {
                Some("a constructor of the program reads standard input")
            }
            () if read(Reply::UNFIT) => Some("the program's arguments are not where the kernel has put them"),
            () => None,
        }
    }

    /// Whether the target's input can be given to it.
    pub fn takes(&self, target: &Target) -> bool {
        self.args == target.args.len()
            && self.stdin == target.stdin.is_some()
            && self.env.iter().all(|name| target.env.iter().any(|(other, _)| other == name))
            && texts(target, &self.env).is_some()
    }

    /// A server with the target's input; `None` if there can be none.
    fn fork(self: &Arc<Base>, target: &Target, cancel: &Arc<AtomicBool>) -> Result<Option<Server>, Error> {
        let Some(texts) = texts(target, &self.env) else { return Ok(None) };
        let (parts, theirs) = Parts::new(target)?;
        parts.memory.set_texts(&texts);
        let stdin = match &parts.stdin {
            Some(file) => file.try_clone(),
            None => File::open("/dev/null"),
        };
        let stdin = stdin.map_err(Error::system("pass the input on"))?;
        let command = Command {
            code: Command::START,
            reserved: processors::mine().map_or(0, |cpu| cpu as u32 + 1),
            arg: if target.reset { Command::RESET } else { 0 },
        };
        let streams = [stdin.as_fd(), parts.stdout.as_fd(), parts.stderr.as_fd()];
        let [stdin, stdout, stderr] = streams;
        let fds = [parts.memory.fd(), theirs.as_fd(), stdin, stdout, stderr];
        let Some(pid) = self.ask(command, &fds) else { return Ok(None) };
        drop(theirs);
        let mut server =
            Server::of(target, Arc::clone(cancel), parts, Process::Forked(pid, Arc::clone(self)));
        server.expect_hello(target.start_timeout)?;
        Ok(Some(server))
    }

    /// Sends a command; the process that was forked for it.
    fn ask(&self, command: Command, fds: &[BorrowedFd<'_>; 5]) -> Option<Pid> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(5))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        control.push(SendAncillaryMessage::ScmRights(fds)).then_some(())?;
        let bytes = wire::encode(command);
        while let Err(errno) =
            sendmsg(&server.ctl, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL)
        {
            (errno == Errno::INTR).then_some(())?;
        }
        let began = std::time::Instant::now();
        loop {
            match server.receive(PATIENCE.saturating_sub(began.elapsed())).ok()? {
                Message::Reply(Reply { code: Reply::STARTED, value, .. }) => return Pid::from_raw(value),
                Message::Nothing if began.elapsed() < PATIENCE => {}
                _ => return None,
            }
        }
    }
}

/// Whether a variable can be given later: it is not the loader's, and its name can be told to the runtime.
fn is_plain(name: &str) -> bool {
    name.len() < 1024
        && !name.contains([':', ','])
        && !LOADERS.iter().any(|beginning| name.starts_with(beginning))
}

/// The texts of a target's input one behind the other; `None` if they are too long.
fn texts(target: &Target, env: &[OsString]) -> Option<Vec<u8>> {
    let value =
        |name: &OsString| target.env.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value);
    let mut bytes = Vec::new();
    for text in target.args.iter().map(Some).chain(env.iter().map(value)) {
        let text = text?.as_bytes();
        if text.len() >= LONGEST || text.contains(&0) {
            return None;
        }
        bytes.extend_from_slice(text);
        bytes.push(0);
    }
    (bytes.len() < REPORT_SIZE).then_some(bytes)
}
