//! The world the binary runs in.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Hook, Point, World};
use crate::domain::Timestamp;

/// What Unix says of a file that is executable and no program.
const ENOEXEC: i32 = 8;

/// The operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Real;

impl World for Real {
    #[expect(clippy::disallowed_methods, reason = "this is the door to the clock")]
    fn now(&self) -> Timestamp {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        };
        Timestamp::from_millis(millis)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door to chance")]
    fn fill_random(&self, bytes: &mut [u8]) -> io::Result<()> {
        getrandom::fill(bytes).map_err(io::Error::from)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door to the environment")]
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door to the working directory")]
    fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door to the working directory")]
    fn enter(&self, directory: &Path) -> io::Result<()> {
        std::env::set_current_dir(directory)
    }

    fn run_hook(&self, hook: &Hook<'_>) -> io::Result<Option<i32>> {
        match start(hook, hook.program, &[]) {
            // A script without a first line that names its shell: git takes it to sh.
            Err(error) if cfg!(unix) && error.raw_os_error() == Some(ENOEXEC) => {
                start(hook, Path::new("sh"), &[hook.program])
            }
            done => done,
        }
    }

    fn reached(&self, _: Point) {}
}

#[expect(clippy::disallowed_methods, reason = "this is the door to child processes")]
fn start(hook: &Hook<'_>, program: &Path, before: &[&Path]) -> io::Result<Option<i32>> {
    let mut command = Command::new(program);
    command.args(before).args(hook.arguments).current_dir(hook.directory).stdin(Stdio::null());
    // Standard output belongs to the answer, or to a protocol.
    command.stdout(io::stderr());
    for name in hook.without {
        command.env_remove(name);
    }
    command.status().map(|status| status.code())
}
