//! Parse, run, exit code.

use std::process::ExitCode;

/// What Git hands down to a hook and everything it starts: about the command in progress, never about the memory.
const NOT_OURS: [&str; 5] = [
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
];

fn main() -> ExitCode {
    drop_foreign_variables();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    grow_in_large_pages();
    git_score_context::cli::guarded(|| match git_score_context::cli::run() {
        Ok(code) => code,
        Err(error) => git_score_context::cli::exit_code(&error),
    })
}

#[expect(
    unsafe_code,
    reason = "the environment may only be changed while there is one thread"
)]
fn drop_foreign_variables() {
    for name in NOT_OURS {
        // SAFETY: nothing has been started yet, so no other thread reads the environment.
        unsafe { std::env::remove_var(name) };
    }
}

/// What the heap grows by, in bytes: more than a graph of some thousand files takes. Only what is touched is memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAP_STEP: usize = 64 << 20;

/// Let the heap grow in large steps and in large pages: a graph takes tens of megabytes in a tenth of a second, and a third of that went
/// to the kernel handing out pages of 4 KiB one by one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "the allocator and the kernel are told how to grow; see SAFETY"
)]
fn grow_in_large_pages() {
    const LARGE_PAGE: usize = 2 << 20;
    // SAFETY: `mallopt` only sets numbers of the allocator, and nothing has been started yet. `madvise` is given whole pages between two
    // ends of the heap, which the allocator never gives back below its trim threshold; the advice changes no byte.
    unsafe {
        libc::mallopt(libc::M_TOP_PAD, HEAP_STEP as libc::c_int);
        // A server that lives long gives back what a large graph took.
        libc::mallopt(libc::M_TRIM_THRESHOLD, 4 * HEAP_STEP as libc::c_int);
        let first = (libc::sbrk(0) as usize).next_multiple_of(LARGE_PAGE);
        // More than is free, less than what is mapped apart, so that the heap grows.
        libc::mallopt(libc::M_MMAP_THRESHOLD, HEAP_STEP as libc::c_int / 2);
        // Seen by nobody, and yet not to be left out.
        libc::free(std::hint::black_box(libc::malloc(LARGE_PAGE / 2)));
        let last = libc::sbrk(0) as usize / LARGE_PAGE * LARGE_PAGE;
        if first < last {
            libc::madvise(
                first as *mut libc::c_void,
                last - first,
                libc::MADV_HUGEPAGE,
            );
        }
    }
}
