//! libc's `syscall`, through which Rust's std, C++'s library and many others reach the kernel.
//!
//! Calls that block or tell of the outside world go to the models; the rest go to the kernel. One that blocks and has
//! no model is named once. Safe before init and after fork; a handler may call it.

use crate::engine::{self, PollFd};
use crate::free;
use crate::model::kernel::{IoVec, MMsgHdr, MsgHdr, TimeVal, error::*, nr, raw, result};
use crate::model::signal::{self, SigInfo};
use crate::model::{cancel, entropy, exit, futex, identity, io, poll, process, thread, time, waitv};
use crate::sys::{c_int, c_uint, pid_t, timespec};

interpose7!(syscall, syscall_hook);

unsafe extern "C" fn syscall_hook(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    pc: u64,
) -> isize {
    if engine::controlled()
        && let Some(value) = modelled(number, [a, b, c, d, e, f], pc)
    {
        return result(value);
    }
    // SAFETY: the caller's request, unchanged.
    let call = || unsafe { raw(number, [a, b, c, d, e, f]) };
    if number == nr::FUTEX && free::on() {
        return result(free::calls::futex([a, b, c, d, e, f], pc, call));
    }
    if number == nr::EXIT_GROUP && free::on() {
        free::tell::exits(a as c_int);
    }
    result(call())
}

/// The kernel's result of a call that tells errors as libc does.
fn kernel_result(done: c_int) -> isize {
    if done < 0 { negative(crate::sys::get_errno()) } else { done as isize }
}

fn negative(error: c_int) -> isize {
    -(error as isize)
}

/// The kernel's result of a modelled call; `None` for one that the kernel does itself.
fn modelled(number: i64, args: [usize; 6], pc: u64) -> Option<isize> {
    let [a, b, c, d, e, f] = args;
    let int = |value: usize| value as c_int;
    Some(match number {
        nr::FUTEX => futex::futex(a, b as u32, c as u32, d, e, f as u32, pc),
        nr::FUTEX_WAITV => waitv::futex_waitv(a, b, c as u32, d, int(e), pc),
        nr::SCHED_YIELD => {
            engine::yield_point(pc);
            0
        }
        nr::GETTID => {
            engine::event();
            identity::tid_of(engine::me()) as isize
        }
        nr::GETRANDOM => entropy::getrandom(a as *mut _, b, c as c_uint),
        // SAFETY: ends the process.
        nr::EXIT_GROUP => unsafe { exit::on_exit_now(int(a), pc) },
        nr::EXIT => thread::leave(core::ptr::null_mut()),
        _ => {
            return timing(number, args, pc)
                .or_else(|| transfer(number, args, pc))
                .or_else(|| waiting(number, args, pc))
                .or_else(|| control(number, args, pc))
                .or_else(|| unmodelled(number, pc));
        }
    })
}

fn timing(number: i64, [a, b, c, d, ..]: [usize; 6], pc: u64) -> Option<isize> {
    Some(match number {
        nr::CLOCK_GETTIME => negative(time::clock_gettime(a as c_int, b as *mut timespec, pc)),
        nr::CLOCK_GETRES => negative(time::clock_getres(a as c_int, b as *mut timespec)),
        nr::GETTIMEOFDAY => time::gettimeofday(a as *mut TimeVal, b as *mut _, pc) as isize,
        nr::TIME => time::time(a as *mut i64, pc) as isize,
        nr::NANOSLEEP => negative(time::nanosleep(a as *const timespec, b as *mut timespec, pc)),
        nr::CLOCK_NANOSLEEP => {
            let (wish, left) = (c as *const timespec, d as *mut timespec);
            negative(time::clock_nanosleep(a as c_int, b as c_int, wish, left, pc))
        }
        nr::TIMERFD_CREATE => kernel_result(time::timerfd_create(a as c_int, b as c_int)),
        // SAFETY: the caller's pointers.
        nr::TIMERFD_SETTIME => kernel_result(unsafe {
            time::timerfd_settime(a as c_int, b as c_int, c as *const _, d as *mut _)
        }),
        // SAFETY: the caller's pointer.
        nr::TIMERFD_GETTIME => kernel_result(unsafe { time::timerfd_gettime(a as c_int, b as *mut _) }),
        _ => return None,
    })
}

fn transfer(number: i64, [a, b, c, d, e, f]: [usize; 6], pc: u64) -> Option<isize> {
    let fd = a as c_int;
    Some(match number {
        nr::READ => io::read(fd, b as *mut _, c, pc),
        nr::WRITE => io::write(fd, b as *const _, c, pc),
        nr::READV => io::readv(fd, b as *const IoVec, c as c_int, pc),
        nr::WRITEV => io::writev(fd, b as *const IoVec, c as c_int, pc),
        nr::SENDTO => io::send(fd, b as *const _, c, d as c_int, e as *const _, f as u32, pc),
        nr::RECVFROM => io::receive(fd, b as *mut _, c, d as c_int, e as *mut _, f as *mut u32, pc),
        // SAFETY: the caller's message.
        nr::SENDMSG => unsafe { io::send_message(fd, b as *const MsgHdr, c as c_int, pc) },
        // SAFETY: the caller's message.
        nr::RECVMSG => unsafe { io::receive_message(fd, b as *mut MsgHdr, c as c_int, pc) },
        // SAFETY: the caller's messages.
        nr::SENDMMSG => unsafe { io::send_messages(fd, b as *mut MMsgHdr, c as c_uint, d as c_int, pc) },
        // SAFETY: the caller's messages.
        nr::RECVMMSG => unsafe {
            io::receive_messages(fd, b as *mut MMsgHdr, c as c_uint, d as c_int, e as *mut timespec, pc)
        },
        nr::ACCEPT => io::accept(fd, b as *mut _, c as *mut u32, 0, pc),
        nr::ACCEPT4 => io::accept(fd, b as *mut _, c as *mut u32, d as c_int, pc),
        nr::CONNECT => io::connect(fd, b as *const _, c as u32, pc),
        nr::OPEN => io::open_at(-100, a as *const _, b as c_int, c as c_uint, pc),
        nr::OPENAT => io::open_at(fd, b as *const _, c as c_int, d as c_uint, pc),
        nr::CLOSE => io::close(fd, pc),
        nr::FCNTL => io::fcntl(fd, b as c_int, c, pc),
        nr::FLOCK => io::flock(fd, b as c_int, pc),
        nr::SENDFILE => io::sendfile(fd, b as c_int, c as *mut i64, d, pc),
        nr::SPLICE => io::splice(fd, b as *mut i64, c as c_int, d as *mut i64, e, f as c_uint, pc),
        nr::TEE => io::tee(fd, b as c_int, c, d as c_uint, pc),
        _ => return None,
    })
}

fn waiting(number: i64, [a, b, c, d, e, f]: [usize; 6], pc: u64) -> Option<isize> {
    let after_ms = |ms: usize| match ms as c_int {
        ..0 => u64::MAX,
        ms => engine::now() + ms as u64 * 1_000_000,
    };
    let relative = |limit: usize| time::deadline_relative(limit as *const timespec);
    let mask = |at: usize| at as *const signal::Set;
    Some(match number {
        nr::POLL => poll::poll(a as *mut PollFd, b, after_ms(c), core::ptr::null(), pc),
        nr::PPOLL => poll::ppoll(a as *mut PollFd, b, c as *const timespec, mask(d), pc),
        nr::SELECT => {
            let sets = [b as *mut u64, c as *mut u64, d as *mut u64];
            poll::select_timeval(a as c_int, sets, e as *mut TimeVal, pc)
        }
        nr::PSELECT6 => {
            let sets = [b as *mut u64, c as *mut u64, d as *mut u64];
            // SAFETY: the last argument is null or points to a mask's address and its size.
            let set = if f == 0 { 0 } else { unsafe { *(f as *const usize) } };
            match relative(e) {
                Ok(deadline) => poll::select(a as c_int, sets, deadline, mask(set), pc),
                Err(error) => negative(error),
            }
        }
        nr::EPOLL_WAIT => {
            poll::epoll(a as c_int, b as *mut _, c as c_int, after_ms(d), core::ptr::null(), pc)
        }
        nr::EPOLL_PWAIT => poll::epoll(a as c_int, b as *mut _, c as c_int, after_ms(d), mask(e), pc),
        nr::EPOLL_PWAIT2 => match relative(d) {
            Ok(deadline) => poll::epoll(a as c_int, b as *mut _, c as c_int, deadline, mask(e), pc),
            Err(error) => negative(error),
        },
        nr::WAIT4 => process::wait4(a as pid_t, b as *mut c_int, c as c_int, d as *mut _, pc),
        nr::WAITID => {
            process::wait_id(a as c_uint, b as c_uint, c as *mut SigInfo, d as c_int, e as *mut _, pc)
        }
        nr::PAUSE => {
            signal::pause(pc);
            negative(EINTR)
        }
        nr::RT_SIGSUSPEND => {
            // SAFETY: the caller's pointer.
            signal::suspend(unsafe { *mask(a) }, pc);
            negative(EINTR)
        }
        nr::RT_SIGTIMEDWAIT => {
            let deadline = match relative(c) {
                Ok(at) => (at != u64::MAX).then_some(at),
                Err(error) => return Some(negative(error)),
            };
            // SAFETY: the caller's pointers.
            unsafe {
                match signal::wait_for(*mask(a), deadline, pc) {
                    Ok(info) => {
                        if b != 0 {
                            *(b as *mut SigInfo) = info;
                        }
                        info.signal as isize
                    }
                    Err(error) => negative(error),
                }
            }
        }
        _ => return None,
    })
}

fn control(number: i64, [a, b, c, d, e, _]: [usize; 6], pc: u64) -> Option<isize> {
    Some(match number {
        nr::KILL => kernel_result(signal::kill(a as pid_t, b as c_int, pc)),
        // SAFETY: no arguments.
        nr::TGKILL if a as pid_t == unsafe { raw(nr::GETPID, []) } as pid_t => {
            negative(signal::tgkill(b as pid_t, c as c_int, pc))
        }
        // SAFETY: no arguments.
        nr::RT_SIGQUEUEINFO if a as pid_t == unsafe { raw(nr::GETPID, []) } as pid_t => {
            // SAFETY: the caller's pointer.
            negative(unsafe { signal::queue_info(None, b as c_int, c as *const SigInfo, pc) })
        }
        nr::RT_TGSIGQUEUEINFO => match identity::strand_of(b as pid_t) {
            Some(id) => {
                // SAFETY: the caller's pointer.
                negative(unsafe { signal::queue_info(Some(id), c as c_int, d as *const SigInfo, pc) })
            }
            None => negative(ESRCH),
        },
        nr::TKILL => negative(signal::tgkill(a as pid_t, b as c_int, pc)),
        nr::RT_SIGPROCMASK => {
            let (new, old) = (b as *const signal::Set, c as *mut signal::Set);
            // SAFETY: the caller's pointers.
            negative(unsafe { signal::sigmask(a as c_int, new, old) })
        }
        // SAFETY: the caller's pointers, in the kernel's own layout.
        nr::RT_SIGACTION => unsafe { signal::native_action(a as c_int, b as *const _, c as *mut _) },
        // SAFETY: the caller's pointers.
        nr::SIGALTSTACK => negative(unsafe { signal::altstack(a as *const _, b as *mut _) }),
        nr::SCHED_SETAFFINITY => negative(identity::set_affinity_of(a as c_int, b, c as *const u8)),
        nr::SCHED_GETAFFINITY => identity::get_affinity_of(a as c_int, b, c as *mut u8),
        nr::PRCTL => identity::prctl(a as c_int, [b, c, d, e]),
        nr::EXECVE => {
            process::about_to_execute(pc);
            return None;
        }
        nr::GETCPU => {
            // SAFETY: the caller's out pointers, if there are any.
            unsafe {
                if a != 0 {
                    *(a as *mut c_uint) = 0;
                }
                if b != 0 {
                    *(b as *mut c_uint) = 0;
                }
            }
            0
        }
        _ => return None,
    })
}

/// Names a call that blocks, or makes a thread nobody controls, and leaves it to the kernel.
fn unmodelled(number: i64, pc: u64) -> Option<isize> {
    let name = match number {
        nr::FORK | nr::VFORK | nr::CLONE | nr::CLONE3 => "syscall(clone): what it starts is not controlled",
        nr::SEMOP | nr::SEMTIMEDOP => "syscall(semop) blocks and is not modelled",
        nr::MSGSND | nr::MSGRCV => "syscall(msgsnd, msgrcv) blocks and is not modelled",
        nr::MQ_TIMEDSEND | nr::MQ_TIMEDRECEIVE => "syscall(mq_*) blocks and is not modelled",
        nr::IO_GETEVENTS => "syscall(io_getevents) blocks and is not modelled",
        nr::IO_URING_ENTER => "syscall(io_uring_enter) blocks and is not modelled",
        nr::FUTEX_WAIT | nr::FUTEX_WAKE | nr::FUTEX_REQUEUE => {
            // Newer calls that every user has a fallback for.
            return Some(negative(ENOSYS));
        }
        _ => {
            engine::event();
            return None;
        }
    };
    engine::event();
    engine::warn_once(name, pc);
    cancel::check();
    None
}
