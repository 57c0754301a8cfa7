//! Standard output: was it open when the program began, and is what is printed written?
//!
//! Rust opens `/dev/null` in the place of a closed stream before `main`, and then everything seems to
//! be written. So the look has to come before that.
#![expect(unsafe_code, reason = "only what runs before Rust's own start sees a closed stream")]

use glis_verbs::{Complaint, Kind};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

static OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// The C library calls what stands in this section before `main`.
#[used]
// SAFETY: the section holds pointers to functions of this form, and this is one.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: this call only asks about a descriptor, which need not be open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    OUTPUT_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Writes to standard output, all of it and at once. A reader who has gone away is no failure, as in
/// any pipe; a stream that is closed or full is one.
pub(crate) fn write_out(bytes: &[u8]) -> Result<(), Complaint> {
    if output_is_closed() {
        return Err(Complaint::new(Kind::Failed, "cannot write: standard output is closed")
            .hint("`>/dev/null` throws the output away; what was asked for was done"));
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|fault| {
        let gone = fault.kind() == io::ErrorKind::BrokenPipe;
        let kind = if gone { Kind::ReaderGone } else { Kind::Failed };
        Complaint::new(kind, format!("cannot write: {fault}"))
    })
}

pub(crate) fn output_is_closed() -> bool {
    OUTPUT_CLOSED.load(Ordering::Relaxed)
}
