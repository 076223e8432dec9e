//! A program started once as a fork server.
//!
//! The program runs up to its `main`, or to its first `check`, and stays there; each run is a fork of that state. One server serves one job. It
//! lives in a process group of its own (a Ctrl-C at the terminal is the driver's), dies with the thread that started
//! it, and is started anew when it goes away.

use crate::capture::Capture;
use crate::error::Error;
use crate::given::Given;
use crate::limits::Limits;
use crate::mode::{Controlled, RunMode};
use crate::outcome::Leaks;
use crate::process::Process;
use crate::shm::SharedMemory;
use crate::{processors, spawn, surroundings, wire};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use threadbare_abi::layout::VERSION;
use threadbare_abi::protocol::{Command, ENV, Reply};
use threadbare_abi::report::RecordTag;
use threadbare_trace::report::records;

/// How to start the program.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its file.
    pub program: PathBuf,
    /// What it sees as its own name; its file if `None`.
    pub arg0: Option<OsString>,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables added to the driver's own environment; of those that are a run's own ([`surroundings`]), all there are.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// What it reads as standard input; nothing if `None`.
    pub stdin: Option<PathBuf>,
    /// The runtime to preload; `None` for a program that speaks the protocol by itself.
    pub runtime: Option<PathBuf>,
    /// How long it may take to reach `main`.
    pub start_timeout: Duration,
    /// What it may take of the machine.
    pub limits: Limits,
    /// What is done with memory that its runs leave.
    pub leaks: Leaks,
    /// How its runs are made.
    pub mode: &'static dyn RunMode,
    /// Whether a run may begin in the process of the one before it.
    pub reset: bool,
    /// Whether its compiler tells of every access to variables on the stack.
    pub stacks_told: bool,
    /// What the program's own choices come from: see [`threadbare_abi::layout::Plan::choices`].
    pub choices: u64,
    /// Arguments, standard input and some variables are given when the program stands before `main`, not when it is started.
    pub given: Option<Given>,
}

impl Target {
    /// A target with the usual settings: the current folder, no input.
    pub fn new(program: impl Into<PathBuf>, args: Vec<OsString>) -> Target {
        Target {
            program: program.into(),
            arg0: None,
            args,
            env: Vec::new(),
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            stdin: None,
            runtime: None,
            start_timeout: Duration::from_secs(60),
            limits: Limits::default(),
            leaks: Leaks::Off,
            mode: &Controlled,
            reset: false,
            stacks_told: true,
            choices: 0,
            given: None,
        }
    }

    /// The same program with its strands under control.
    pub fn controlled(&self) -> Arc<Target> {
        Arc::new(Target { mode: &Controlled, ..self.clone() })
    }
}

/// What a server is made of, but for its process.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) memory: SharedMemory,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    pub(crate) ctl: OwnedFd,
    pub(crate) stdin: Option<File>,
}

impl Parts {
    /// All of it, and the program's end of the control socket.
    pub(crate) fn new(target: &Target) -> Result<(Parts, OwnedFd), Error> {
        let memory = SharedMemory::create().map_err(Error::system("make shared memory"))?;
        let output = |name| {
            Capture::create(name, target.limits.output)
                .map_err(Error::system("make a file for the program's output"))
        };
        let (stdout, stderr) = (output("stdout")?, output("stderr")?);
        let kind = SocketType::SEQPACKET;
        let (ctl, theirs) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
            .map_err(io::Error::from)
            .map_err(Error::system("make the control socket"))?;
        let stdin = match &target.stdin {
            Some(path) => Some(
                File::open(path).map_err(Error::system(format!("read the input `{}`", path.display())))?,
            ),
            None => None,
        };
        Ok((Parts { memory, stdout, stderr, ctl, stdin }, theirs))
    }
}

/// A running fork server.
#[derive(Debug)]
pub struct Server {
    pub(crate) memory: SharedMemory,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    pub(crate) ctl: OwnedFd,
    process: Process,
    stdin: Option<File>,
    pub(crate) program: PathBuf,
    /// The process that makes the runs.
    serving: u32,
    /// What was read of an input that was not there yet.
    pub(crate) read_early: i32,
    asked: Option<String>,
    pub(crate) known_count: u64,
    /// Records of coverage taken over so far.
    pub(crate) told_count: u64,
    /// What the strategy was told last, if that is still there.
    pub(crate) guide: Option<Arc<[u64]>>,
    /// The command under way is for several runs.
    pub(crate) in_batch: bool,
    /// Set from outside when the run under way is to be given up.
    pub(crate) cancel: Arc<AtomicBool>,
    dead: bool,
    pub(crate) limits: Limits,
    /// What the program's own choices come from.
    pub(crate) choices: u64,
    /// Memory that is left is looked for.
    pub(crate) leaks: bool,
    /// Processes that the last run left behind.
    pub(crate) left_behind: u64,
    /// Processors that a run may use at a time.
    pub(crate) processors: u32,
    /// The last run used up its time, and came to its end when it was given more.
    pub(crate) was_slow: bool,
}

/// What came over the control socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    /// A reply.
    Reply(Reply),
    /// Nothing within the time.
    Nothing,
    /// The server has closed its end.
    Closed,
}

/// How often a program that starts is looked after.
const TICK: Duration = Duration::from_millis(100);
/// The loader's variable.
const BIND_NOW: &str = "LD_BIND_NOW";

impl Server {
    /// Starts the program and waits until it stands where runs begin.
    pub fn start(target: &Target) -> Result<Server, Error> {
        Server::start_unless(target, Arc::new(AtomicBool::new(false)))
    }

    /// The same; it is given up when `cancel` is set, and so are all its runs.
    pub(crate) fn start_unless(target: &Target, cancel: Arc<AtomicBool>) -> Result<Server, Error> {
        match target.given.as_ref().and_then(|given| given.server(target, &cancel)) {
            Some(server) => server,
            None => Server::launch(target, cancel, ""),
        }
    }

    /// Starts the program itself; `more` is for the runtime to know.
    pub(crate) fn launch(target: &Target, cancel: Arc<AtomicBool>, more: &str) -> Result<Server, Error> {
        let (parts, theirs) = Parts::new(target)?;
        let Parts { memory, stdout, stderr, stdin, .. } = &parts;
        let mut command = std::process::Command::new(&target.program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| surroundings::matters(name)) {
            command.env_remove(name);
        }
        command.args(&target.args).envs(target.env.iter().cloned()).current_dir(&target.cwd);
        if let Some(arg0) = &target.arg0 {
            command.arg0(arg0);
        }
        // The loader cannot preload such a path; a program built with Threadbare loads the runtime by itself anyway.
        let loadable = |path: &&PathBuf| !path.as_os_str().as_bytes().iter().any(|byte| b" :".contains(byte));
        if let Some(runtime) = target.runtime.as_ref().filter(loadable) {
            command.env("LD_PRELOAD", preload(runtime, target));
        }
        let [shm_fd, ctl_fd] = spawn::CHILD_FDS;
        let mut variable = format!("shm={shm_fd},ctl={ctl_fd}");
        if target.env.iter().all(|(name, _)| name != BIND_NOW) {
            // Symbols are looked up once, in the server, not in every run.
            command.env(BIND_NOW, "1");
            variable += ",bind=1";
        }
        variable += &target.mode.announced(target);
        if let Some(cpus) = processors::allowed() {
            variable += &format!(",cpus={cpus}");
        }
        command.env(ENV, variable + more);
        command.stdout(stdout.stdio().map_err(Error::system("pass the output on"))?);
        command.stderr(stderr.stdio().map_err(Error::system("pass the output on"))?);
        command.stdin(match stdin {
            Some(file) => Stdio::from(file.try_clone().map_err(Error::system("pass the input on"))?),
            None => Stdio::null(),
        });
        spawn::prepare(&mut command, [memory.fd(), theirs.as_fd()], target.limits.file_size);
        let child =
            command.spawn().map_err(Error::system(format!("start `{}`", target.program.display())))?;
        drop(theirs);
        let mut server = Server::of(target, cancel, parts, Process::Child(child));
        server.expect_hello(target.start_timeout)?;
        Ok(server)
    }

    /// A server whose process has been started.
    pub(crate) fn of(target: &Target, cancel: Arc<AtomicBool>, parts: Parts, process: Process) -> Server {
        let Parts { memory, stdout, stderr, ctl, stdin } = parts;
        let serving = process.id();
        Server {
            memory,
            stdout,
            stderr,
            ctl,
            process,
            stdin,
            program: target.program.clone(),
            serving,
            read_early: 0,
            asked: None,
            known_count: 0,
            told_count: 0,
            guide: None,
            in_batch: false,
            cancel,
            dead: false,
            limits: target.limits,
            choices: target.choices,
            leaks: target.leaks != Leaks::Off,
            left_behind: 0,
            processors: target.mode.processors(),
            was_slow: false,
        }
    }

    /// The server's own process.
    pub(crate) fn process_id(&self) -> u32 {
        self.serving
    }

    /// What the program's `check` asks for, lines of name and value; `None` if runs begin at `main`.
    pub fn asked(&self) -> Option<&str> {
        self.asked.as_deref()
    }

    /// Whether the server can take another run.
    pub fn is_alive(&self) -> bool {
        !self.dead
    }

    pub(crate) fn expect_hello(&mut self, timeout: Duration) -> Result<(), Error> {
        let deadline = Instant::now() + timeout;
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            match self.receive(deadline.saturating_duration_since(Instant::now()).min(TICK))? {
                Message::Reply(Reply { code: Reply::HELLO, value, arg }) => {
                    if arg != u64::from(VERSION) {
                        return Err(Error::Version { theirs: arg, ours: VERSION });
                    }
                    if value & 1 == 0 {
                        return Err(Error::NotInstrumented(self.program.clone()));
                    }
                    self.read_early = value & Reply::INPUT;
                    if let Some(serving) =
                        u32::try_from(value >> Reply::SERVER_SHIFT).ok().filter(|&id| id > 0)
                    {
                        self.serving = serving;
                        let report = self.memory.report(self.memory.live().report_len);
                        let told = records(&report).find(|record| record.tag == RecordTag::Check);
                        self.asked = Some(told.map(|record| record.text).unwrap_or_default());
                    }
                    return Ok(());
                }
                Message::Reply(_) => {}
                Message::Closed => {
                    let end = self.bury();
                    let (program, output) = (self.program.clone(), self.early_output());
                    return Err(Error::DiedEarly { program, end, output });
                }
                Message::Nothing if Instant::now() >= deadline => {
                    self.bury();
                    let (program, output) = (self.program.clone(), self.early_output());
                    return Err(Error::StartTimeout { program, seconds: timeout.as_secs(), output });
                }
                Message::Nothing => {}
            }
        }
    }

    /// Sends a command; false if the server is gone.
    pub(crate) fn send(&mut self, command: Command) -> bool {
        loop {
            match send(&self.ctl, &wire::encode(command), SendFlags::NOSIGNAL) {
                Ok(_) => return true,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Waits for one message.
    pub(crate) fn receive(&self, timeout: Duration) -> Result<Message, Error> {
        let failed = |errno: Errno| Error::system("read from the control socket")(errno.into());
        let mut fds = [PollFd::new(&self.ctl, PollFlags::IN)];
        let timeout = Timespec::try_from(timeout).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(Message::Nothing),
            Ok(_) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let mut bytes = [0u8; wire::SIZE];
        match recv(&self.ctl, &mut bytes[..], RecvFlags::DONTWAIT) {
            Ok((_, wire::SIZE)) => Ok(Message::Reply(wire::decode(bytes))),
            Ok(_) | Err(Errno::CONNRESET) => Ok(Message::Closed),
            Err(Errno::INTR | Errno::AGAIN) => Ok(Message::Nothing),
            Err(errno) => Err(failed(errno)),
        }
    }

    /// Puts the standard streams back to where a run finds them.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        self.stdout.reset()?;
        self.stderr.reset()?;
        if let Some(file) = &mut self.stdin {
            // A pipe cannot be rewound; its content belongs to the first run then.
            let _ = file.rewind();
        }
        Ok(())
    }

    /// Ends the server if it still lives, and tells how it ended.
    pub(crate) fn bury(&mut self) -> String {
        self.dead = true;
        self.process.bury()
    }

    fn kill(&mut self) {
        self.dead = true;
        self.process.kill();
    }

    fn early_output(&self) -> String {
        let mut text = String::new();
        for stream in [&self.stdout, &self.stderr] {
            if let Ok(output) = stream.read() {
                for line in output.text().lines().rev().take(20).collect::<Vec<_>>().into_iter().rev() {
                    text.push_str("\n    | ");
                    // It goes to a terminal, which is not the program's.
                    text.extend(
                        line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }),
                    );
                }
            }
        }
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.dead {
            self.kill();
        }
        self.process.wait();
    }
}

/// The runtime goes first; what the user preloads stays.
fn preload(runtime: &Path, target: &Target) -> OsString {
    let mut value = runtime.as_os_str().to_owned();
    let own = target.env.iter().rev().find(|(name, _)| name == "LD_PRELOAD").map(|(_, value)| value.clone());
    if let Some(theirs) = own.filter(|value| !value.is_empty()) {
        value.push(":");
        value.push(theirs);
    }
    value
}
