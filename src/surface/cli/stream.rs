//! Standard output as a stream, and whoever reads it.

use std::io::{ErrorKind, Write, stdout};
use std::ops::ControlFlow;
use std::time::Duration;

use super::output::complain;
use crate::failure::Exit;

/// Prints a text at once; breaks off where nothing more can be printed.
pub(super) fn write(text: &str) -> ControlFlow<Exit> {
    write_or(text, "")
}

/// The same, and says `but` where the text cannot be printed.
pub(super) fn write_or(text: &str, but: &str) -> ControlFlow<Exit> {
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Ok(()) => ControlFlow::Continue(()),
        // A reader that went away, as `| head` does or a terminal that was closed, is no failure of ours.
        Err(error) if error.kind() == ErrorKind::BrokenPipe || is_deserted_within(Duration::ZERO) => {
            ControlFlow::Break(Exit::Success)
        }
        Err(error) => {
            complain(&format!("foremerge: the answer cannot be printed: {error}{but}\n"));
            ControlFlow::Break(Exit::Internal)
        }
    }
}

/// Waits that long, and says whether the reader went away meanwhile, which a program that has
/// nothing to print would not notice.
#[cfg(unix)]
pub(super) fn is_deserted_within(pause: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let timeout = Timespec { tv_sec: pause.as_secs().cast_signed(), tv_nsec: pause.subsec_nanos().into() };
    let out = stdout();
    let mut watched = [PollFd::new(&out, PollFlags::empty())];
    match poll(&mut watched, Some(&timeout)) {
        Ok(0) => false,
        Ok(_) if watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => true,
        // Some systems cannot wait on what they print to.
        Ok(_) | Err(_) => {
            std::thread::sleep(pause);
            false
        }
    }
}

/// Waits that long. Nothing tells here whether somebody still reads.
#[cfg(not(unix))]
pub(super) fn is_deserted_within(pause: Duration) -> bool {
    std::thread::sleep(pause);
    false
}
