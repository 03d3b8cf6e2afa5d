//! Small file systems of a test's own: read-only ones and full ones.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::sandbox::scrubbed;

/// A mounted file system, gone at the end of the test.
pub struct Mount {
    pub at: PathBuf,
}

impl Mount {
    /// A file system of `kibibytes` in memory; `None`, said loudly, where this user may not mount.
    pub fn in_memory(at: &Path, kibibytes: u32, what_is_skipped: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let size = format!("size={kibibytes}k");
        Self::new(at, &["-t", "tmpfs", "-o", &size, "tmpfs"], what_is_skipped)
    }

    /// The directory `of` once more, read-only here and as it was there.
    pub fn read_only_view(of: &Path, at: &Path, what_is_skipped: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mount = Self::new(at, &["--bind", of.to_str().unwrap()], what_is_skipped)?;
        assert!(run("mount", &["-o", "remount,bind,ro", at.to_str().unwrap()]));
        Some(mount)
    }

    fn new(at: &Path, arguments: &[&str], what_is_skipped: &str) -> Option<Self> {
        let mut arguments = arguments.to_vec();
        arguments.push(at.to_str().unwrap());
        if run("mount", &arguments) {
            return Some(Self { at: at.to_owned() });
        }
        eprintln!("SKIPPED: {what_is_skipped}: this user may not mount a file system");
        None
    }

    pub fn read_only(&self) {
        // A child that another test has just forked holds our files open until it becomes its program.
        let remount = || run("mount", &["-o", "remount,ro", self.at.to_str().unwrap()]);
        let done = (0..200).any(|_| {
            let done = remount();
            if !done {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            done
        });
        assert!(done, "something keeps writing to {}", self.at.display());
    }

    pub fn writable(&self) {
        assert!(run("mount", &["-o", "remount,rw", self.at.to_str().unwrap()]));
    }

    fn filler(&self) -> PathBuf {
        self.at.join("filler")
    }

    /// Takes all space but about `pages` pages of 4 KiB.
    pub fn fill_but(&self, pages: u64) {
        self.free();
        let mut filler = File::create(self.filler()).unwrap();
        let mut size = 0;
        while filler.write_all(&[7; 4096]).is_ok() {
            size += 4096;
        }
        filler.set_len(size - (pages * 4096).min(size)).unwrap();
    }

    /// Gives all space back.
    pub fn free(&self) {
        let _ = std::fs::remove_file(self.filler());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a process that is just ending may still be there.
        run("umount", &["-l", self.at.to_str().unwrap()]);
    }
}

fn run(program: &str, arguments: &[&str]) -> bool {
    scrubbed(program).args(arguments).output().is_ok_and(|output| output.status.success())
}
