//! The world the binary runs in.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Point, World};
use crate::domain::Timestamp;

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

    fn reached(&self, _: Point) {}
}
