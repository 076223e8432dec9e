//! Calls with a state that libc keeps out of sight: generators of random numbers, the environment, static buffers, streams.
//!
//! Which strand comes first to such a state is part of what a run does, so the call is a point and a step on an object
//! that stands for it: a stream by its address, any other by a number. libc's own function does the work; nobody can come in
//! between. A stub keeps all argument registers, so functions of any prototype are served. While there is only one strand,
//! the call is no event.
//!
//! Safe before init, in a signal and after fork: libc's own function alone is called then.

use crate::effect::{Effect, effect};
use crate::engine::addressable::CHECKING;
use crate::engine::{self, ObjectClass, ObjectId};
use crate::model::{io, stdio};
use crate::sys::real::Entry;
use crate::tsan::strings::{entry, look_up_first};
use threadbare_abi::layout::flags;
use threadbare_abi::op::{Op, OpKind, state};

/// The state with a number, or at an address.
pub const fn of(state: u64) -> ObjectId {
    ObjectId::new(ObjectClass::State, state)
}

/// The running strand looks at a state, or changes it.
pub fn uses(kind: OpKind, object: ObjectId, pc: u64) {
    let told = object != ObjectId::NEVER;
    if told
        && engine::controlled()
        && engine::live_strands() > 1
        && engine::plan_flags() & flags::FEWER_EVENTS == 0
    {
        if kind == OpKind::Io {
            io::begin(-1, pc);
            io::touched();
            if object != ObjectId::DESCRIPTORS {
                effect(Effect::Change, object, pc);
            }
            return;
        }
        engine::point(Op::new(kind, object.addr, pc));
        let what = match kind {
            OpKind::Init => Effect::Make,
            OpKind::Destroy => Effect::Destroy,
            OpKind::StateRead => Effect::Look,
            _ => Effect::Change,
        };
        effect(what, object, pc);
    }
}

/// The running strand changes a state, if the call whose return address lies at `slot` comes straight from code that the compiler's
/// pass has seen: what libraries do for themselves, such as Rust's for the stack of each strand, makes no difference to the program.
pub fn uses_seen(object: ObjectId, slot: *const u64) {
    if engine::controlled() && engine::frames::is_innermost(slot as usize) {
        // SAFETY: the stub passes where its return address lies.
        uses(OpKind::StateWrite, object, unsafe { *slot });
    }
}

/// The argument registers of a call, and who made it.
#[repr(C)]
struct Call {
    floating: [[u64; 2]; 8],
    vectors: u64,
    arguments: [u64; 6],
    pc: u64,
}

macro_rules! states {
    ($($kind:ident $what:expr => $($name:ident)*;)*) => {$($(
        const _: () = {
            entry!(REAL, $name);

            unsafe extern "C" fn before(call: &Call) {
                let what: fn(&Call) -> ObjectId = $what;
                uses(OpKind::$kind, what(call), call.pc);
            }

            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "cmp byte ptr [rip + {checking}], 0",
                    "jne 3f",
                    "2: mov r11, [rip + {entry} + {found}]",
                    "cmp r11, 1",
                    "jbe 4f",
                    "jmp r11",
                    "4: lea r11, [rip + {entry}]",
                    "jmp {look_up}",
                    "3: push r9",
                    ".cfi_adjust_cfa_offset 8",
                    "push r8",
                    ".cfi_adjust_cfa_offset 8",
                    "push rcx",
                    ".cfi_adjust_cfa_offset 8",
                    "push rdx",
                    ".cfi_adjust_cfa_offset 8",
                    "push rsi",
                    ".cfi_adjust_cfa_offset 8",
                    "push rdi",
                    ".cfi_adjust_cfa_offset 8",
                    "push rax",
                    ".cfi_adjust_cfa_offset 8",
                    "sub rsp, 128",
                    ".cfi_adjust_cfa_offset 128",
                    "movups [rsp], xmm0",
                    "movups [rsp + 16], xmm1",
                    "movups [rsp + 32], xmm2",
                    "movups [rsp + 48], xmm3",
                    "movups [rsp + 64], xmm4",
                    "movups [rsp + 80], xmm5",
                    "movups [rsp + 96], xmm6",
                    "movups [rsp + 112], xmm7",
                    "mov rdi, rsp",
                    "call {before}",
                    "movups xmm0, [rsp]",
                    "movups xmm1, [rsp + 16]",
                    "movups xmm2, [rsp + 32]",
                    "movups xmm3, [rsp + 48]",
                    "movups xmm4, [rsp + 64]",
                    "movups xmm5, [rsp + 80]",
                    "movups xmm6, [rsp + 96]",
                    "movups xmm7, [rsp + 112]",
                    "add rsp, 128",
                    ".cfi_adjust_cfa_offset -128",
                    "pop rax",
                    ".cfi_adjust_cfa_offset -8",
                    "pop rdi",
                    ".cfi_adjust_cfa_offset -8",
                    "pop rsi",
                    ".cfi_adjust_cfa_offset -8",
                    "pop rdx",
                    ".cfi_adjust_cfa_offset -8",
                    "pop rcx",
                    ".cfi_adjust_cfa_offset -8",
                    "pop r8",
                    ".cfi_adjust_cfa_offset -8",
                    "pop r9",
                    ".cfi_adjust_cfa_offset -8",
                    "jmp 2b",
                    ".cfi_endproc",
                    checking = sym CHECKING,
                    entry = sym REAL,
                    found = const core::mem::offset_of!(Entry, found),
                    look_up = sym look_up_first,
                    before = sym before,
                )
            }
        };
    )*)*};
}

fn stream_at<const AT: usize>(call: &Call) -> ObjectId {
    match call.arguments[AT] {
        0 => of(state::STREAMS),
        file => of(file),
    }
}

/// Of the program's own calls alone.
fn mappings(call: &Call) -> ObjectId {
    let seen = engine::frames::is_innermost(&raw const call.pc as usize);
    if seen { of(state::MAPPINGS) } else { ObjectId::NEVER }
}

fn first(class: ObjectClass, call: &Call) -> ObjectId {
    ObjectId::new(class, call.arguments[0])
}

states! {
    Init |call| first(ObjectClass::Mutex, call) => mtx_init;
    Init |call| first(ObjectClass::Cond, call) => cnd_init;
    Io |_| ObjectId::DESCRIPTORS => socket socketpair eventfd epoll_create epoll_create1 memfd_create pipe pipe2 tmpfile tmpfile64 opendir
        mkstemp mkstemp64 mkostemp mkostemp64 mkstemps mkstemps64 mkostemps mkostemps64 inotify_init inotify_init1 shm_open mq_open
        posix_openpt getpt popen pidfd_open userfaultfd fanotify_init;
    StateWrite |_| of(state::SYSTEM) => shmget semget msgget sem_open sem_unlink shm_unlink;
    StateWrite mappings => brk sbrk shmat shmdt;
    StateWrite |_| of(state::RANDOM) => rand srand random srandom initstate setstate;
    StateWrite |_| of(state::RANDOM48) => drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 seed48 lcong48;
    StateRead |_| of(state::ENVIRONMENT) => getenv secure_getenv;
    StateWrite |_| of(state::ENVIRONMENT) => setenv putenv unsetenv clearenv;
    StateWrite |_| of(state::TOKENS) => strtok;
    StateWrite |_| of(state::CALENDAR) => tzset mktime;
    StateRead |_| of(state::CALENDAR) => localtime_r strftime;
    StateWrite |_| of(state::LOCALE) => setlocale;
    StateRead |_| of(state::LOCALE) => localeconv nl_langinfo;
    StateWrite |_| of(state::ACCOUNTS) => getpwnam getpwuid getpwent setpwent endpwent getgrnam getgrgid getgrent setgrent endgrent
        getspnam getlogin;
    StateWrite |_| of(state::HOSTS) => gethostbyname gethostbyname2 gethostbyaddr gethostent getservbyname getservbyport getservent
        getprotobyname getprotobynumber getnetbyname;
    StateWrite |_| of(state::OPTIONS) => getopt getopt_long getopt_long_only;
    StateWrite |_| of(state::TABLE) => hcreate hsearch hdestroy;
    StateWrite |_| of(state::FOLDER) => chdir fchdir;
    StateRead |_| of(state::FOLDER) => getcwd get_current_dir_name;
    StateWrite |_| of(state::MASK) => umask;
    StateWrite |_| of(state::NAMES) => tmpnam ttyname ptsname ctermid;
    StateWrite |_| of(state::DIGITS) => ecvt fcvt l64a;
    StateWrite |_| of(state::SHIFT) => mblen mbtowc wctomb;
    StateWrite |_| of(stdio::standard_output()) =>
        printf vprintf putchar putchar_unlocked wprintf vwprintf putwchar __printf_chk __vprintf_chk __wprintf_chk;
    StateWrite |_| of(stdio::standard_error()) => perror psignal;
    StateWrite |_| of(stdio::standard_input()) => scanf vscanf __isoc99_scanf __isoc99_vscanf __isoc23_scanf getwchar wscanf
        __isoc99_wscanf getchar_unlocked;
    StateWrite stream_at::<0> => fprintf vfprintf __fprintf_chk __vfprintf_chk fwprintf vfwprintf __fwprintf_chk fflush fflush_unlocked
        fseek fseeko fseeko64 rewind fsetpos fsetpos64 clearerr clearerr_unlocked setvbuf setbuf setbuffer setlinebuf
        fscanf vfscanf __isoc99_fscanf __isoc99_vfscanf __isoc23_fscanf fwscanf __isoc99_fwscanf fgetwc getwc getc_unlocked fgetc_unlocked
        getw readdir readdir64 rewinddir seekdir;
    Io stream_at::<0> => fclose pclose closedir;
    StateRead stream_at::<0> => feof ferror feof_unlocked ferror_unlocked ftell ftello ftello64 fgetpos fgetpos64 telldir;
    StateWrite stream_at::<1> => fputc putc _IO_putc fputc_unlocked putc_unlocked ungetc ungetwc putw fputwc putwc fputws fputs_unlocked;
    StateWrite stream_at::<2> => fgetws fgets_unlocked freopen freopen64;
    StateWrite stream_at::<3> => fread_unlocked fwrite_unlocked;
}
