//! What keeps a mapped file that somebody cuts from ending the process.
//!
//! In: the maps that are there. Out: whether one of them was cut. A page that its file no longer has raises SIGBUS at whoever looks at
//! it; where it belongs to a map of ours, zeros are put there and the map is marked, as systemd's journal does. Every other such
//! signal goes to who had it before. Only the program itself installs the handler: a library has no say over its host's signals, and
//! there files are read.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process may handle the signal.
static GUARDED: AtomicBool = AtomicBool::new(false);

/// Lets files be mapped in this process, under a handler of SIGBUS that is installed with the first of them. Without this call they are
/// read, which is slower.
pub fn guard_maps() {
    GUARDED.store(true, Ordering::Relaxed);
}

/// Whether a file may be mapped now: it may not once one was cut, since who cuts one may cut the next.
pub(super) fn is_guarded() -> bool {
    GUARDED.load(Ordering::Relaxed) && !watch::has_cut() && watch::is_installed()
}

pub(super) use watch::Slot;

#[cfg(unix)]
mod watch {
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Mutex, OnceLock};

    /// As many maps as are watched at once; what is opened beyond that is read.
    const MOST: usize = 64;

    /// Where a map lies; from 0 to 0 where there is none.
    struct Range {
        first: AtomicUsize,
        last: AtomicUsize,
        is_cut: AtomicBool,
    }

    static RANGES: [Range; MOST] = [const {
        Range {
            first: AtomicUsize::new(0),
            last: AtomicUsize::new(0),
            is_cut: AtomicBool::new(false),
        }
    }; MOST];
    /// Which of them are taken.
    static TAKEN: Mutex<[bool; MOST]> = Mutex::new([false; MOST]);
    static HAS_CUT: AtomicBool = AtomicBool::new(false);
    static PAGE: AtomicUsize = AtomicUsize::new(0);
    /// Who had the signal before; none where the handler could not be installed.
    static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();

    /// One map that is watched, as long as this lives.
    pub struct Slot(usize);

    impl Slot {
        pub fn take(map: &[u8]) -> Option<Self> {
            let mut taken = TAKEN.lock().ok()?;
            let at = taken.iter().position(|is_taken| !is_taken)?;
            taken[at] = true;
            let (range, first) = (&RANGES[at], map.as_ptr() as usize);
            range.is_cut.store(false, Ordering::SeqCst);
            range.first.store(first, Ordering::SeqCst);
            range.last.store(first + map.len(), Ordering::SeqCst);
            Some(Self(at))
        }

        pub fn is_cut(&self) -> bool {
            RANGES[self.0].is_cut.load(Ordering::SeqCst)
        }
    }

    impl Drop for Slot {
        fn drop(&mut self) {
            let range = &RANGES[self.0];
            range.last.store(0, Ordering::SeqCst);
            range.first.store(0, Ordering::SeqCst);
            if let Ok(mut taken) = TAKEN.lock() {
                taken[self.0] = false;
            }
        }
    }

    pub fn has_cut() -> bool {
        HAS_CUT.load(Ordering::SeqCst)
    }

    /// Installs the handler, once.
    #[expect(unsafe_code, reason = "a signal is handled; see SAFETY")]
    pub fn is_installed() -> bool {
        let before = BEFORE.get_or_init(|| {
            // SAFETY: the structures are plain numbers, for which zeros are a value; the calls write to them only. The handler
            // does nothing but what its own SAFETY says.
            unsafe {
                PAGE.store(
                    usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).ok()?,
                    Ordering::SeqCst,
                );
                let mut before: libc::sigaction = std::mem::zeroed();
                let asked = libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before);
                (asked == 0).then_some(before)
            }
        });
        static INSTALLED: OnceLock<bool> = OnceLock::new();
        before.is_some()
            && *INSTALLED.get_or_init(|| {
                // SAFETY: as above. Who had the signal before is known by now, so that the handler finds it.
                unsafe {
                    let mut ours: libc::sigaction = std::mem::zeroed();
                    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
                    ours.sa_sigaction = handler as libc::sighandler_t;
                    // The stack may be what ran over; who had the signal before knows what to do then.
                    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) == 0
                }
            })
    }

    /// Called by the system, at any instruction that reads a page which is not there.
    #[expect(unsafe_code, reason = "a signal is handled; see SAFETY")]
    extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: the system gives a sound `info`. Only atomic numbers are read and written, nothing is allocated and no lock is taken;
        // `mmap` is a bare system call. What it replaces is one page inside a map of ours, which lives as long as somebody can look
        // at it, and which the faulting instruction reads again.
        unsafe {
            // Not positive where a process has sent it, which says nothing of memory.
            if (*info).si_code > 0 && mend((*info).si_addr() as usize) {
                return;
            }
            pass_on(signal, info, context);
        }
    }

    /// Puts zeros where a map of ours has lost a page, and marks it; false where the address is in none.
    #[expect(unsafe_code, reason = "a page of our own is replaced; see SAFETY")]
    fn mend(address: usize) -> bool {
        let mut is_ours = false;
        for range in &RANGES {
            let first = range.first.load(Ordering::SeqCst);
            if first != 0 && (first..range.last.load(Ordering::SeqCst)).contains(&address) {
                range.is_cut.store(true, Ordering::SeqCst);
                is_ours = true;
            }
        }
        if !is_ours {
            return false;
        }
        HAS_CUT.store(true, Ordering::SeqCst);
        let page = PAGE.load(Ordering::SeqCst);
        let start = address & !(page - 1);
        // SAFETY: see `handle`.
        let zeros = unsafe {
            libc::mmap(
                start as *mut c_void,
                page,
                libc::PROT_READ,
                libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANON,
                -1,
                0,
            )
        };
        zeros as usize == start
    }

    /// Does what would have been done without us.
    #[expect(unsafe_code, reason = "another handler is called; see SAFETY")]
    unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: what is called is what the system would have called, with what it would have given it. Otherwise the signal is as if
        // it had never been handled, and comes again at once: the instruction that raised it is tried once more.
        unsafe {
            let before = BEFORE.get().copied().flatten();
            let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
            let flags = before.map_or(0, |before| before.sa_flags);
            if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
                let mut default: libc::sigaction = std::mem::zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const default, std::ptr::null_mut());
                if (*info).si_code <= 0 && handler == libc::SIG_DFL {
                    libc::raise(signal);
                }
            } else if flags & libc::SA_SIGINFO != 0 {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            } else {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}

/// Where a mapped file cannot be cut, or nothing is known of what happens then: files are read.
#[cfg(not(unix))]
mod watch {
    pub struct Slot;

    impl Slot {
        pub fn take(_: &[u8]) -> Option<Self> {
            None
        }

        pub fn is_cut(&self) -> bool {
            false
        }
    }

    pub fn has_cut() -> bool {
        false
    }

    pub fn is_installed() -> bool {
        false
    }
}
