//! A terminal of our own, for what behaves otherwise when a person watches.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The side of a terminal at which a person sits.
pub struct Terminal {
    keyboard_and_screen: File,
    pub path: PathBuf,
}

impl Terminal {
    pub fn new() -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let path = PathBuf::from(OsStr::from_bytes(name.as_bytes()));
        Self { keyboard_and_screen: ours.into(), path }
    }

    pub fn is_wide(&self, columns: u16) {
        let size = rustix::termios::Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&self.keyboard_and_screen, size).unwrap();
    }

    pub fn types(&self, keys: &[u8]) {
        (&self.keyboard_and_screen).write_all(keys).unwrap();
    }

    /// What appears until `wanted` is there, or until nothing can appear any more.
    pub fn shows(&self, wanted: &str) -> String {
        let (mut shown, mut some) = (String::new(), [0; 256]);
        while wanted.is_empty() || !shown.contains(wanted) {
            match (&self.keyboard_and_screen).read(&mut some) {
                Ok(0) => break,
                Ok(count) => shown.push_str(&String::from_utf8_lossy(&some[..count])),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The last program on it has ended.
                Err(_) => break,
            }
        }
        shown
    }
}

/// The side of a terminal at which a program runs. Whoever leads a session without a terminal gets this one.
pub fn program_side(path: &Path, of_its_session: bool) -> File {
    let flags = if of_its_session { OFlags::empty() } else { OFlags::NOCTTY };
    let mut open = File::options();
    open.read(true).write(true).custom_flags(flags.bits().cast_signed());
    open.open(path).unwrap()
}
