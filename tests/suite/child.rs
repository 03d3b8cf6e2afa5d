//! Work done by another process: this test binary once more, running one ignored test that does a job.
#![expect(clippy::disallowed_methods, reason = "a process of its own is the point")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Instant;

use foremerge::git::Repository;
use foremerge::git::refs::RefName;
use foremerge::git::worktree::Request;
use foremerge::ledger::Settings;
use foremerge::world::{Fake, Point, World};
use serde_json::json;

use crate::sandbox::scrubbed;
use crate::terminal::program_side;
use crate::workplace::{call, host_in, publish, raw, register};

/// What a child is told, by name of variable.
const JOB: &str = "CHILD_JOB";
const AT: &str = "CHILD_AT";
const NAME: &str = "CHILD_NAME";
const ROUNDS: &str = "CHILD_ROUNDS";
const CRASH: &str = "CHILD_CRASH";

/// Something another process does.
#[derive(Debug, Clone, Copy)]
pub enum Job {
    /// Makes the ledger.
    Init,
    /// Registers agents that publish an intent each.
    Work,
    /// The same from two threads at once, on one ledger.
    WorkTwice,
    /// Folds the log of the ledger file back into it.
    Checkpoint,
    /// Holds the lock file that is the turn to write, until its input ends.
    HoldTheTurn,
    /// Pins `HEAD` under the name it was given, and says whether it made the ref.
    Pin,
    /// Moves the ref of the name it was given from the parent of `HEAD` to `HEAD`.
    Move,
    /// Deletes the ref of the name it was given, which names `HEAD`.
    Unpin,
    /// Pins, moves and deletes refs below the name it was given until it is killed.
    Churn,
    /// Makes the worktree `branch=path` of the name it was given, and says what came of it.
    AddWorktree,
    /// Becomes `foremerge work watch` on the terminal it was given as name, in a session of its own.
    WatchOnATerminal,
}

impl Job {
    const ALL: [Self; 11] = [
        Self::Init,
        Self::Work,
        Self::WorkTwice,
        Self::Checkpoint,
        Self::HoldTheTurn,
        Self::Pin,
        Self::Move,
        Self::Unpin,
        Self::Churn,
        Self::AddWorktree,
        Self::WatchOnATerminal,
    ];
}

/// How a child is started.
pub struct Order<'o> {
    pub job: Job,
    pub at: &'o Path,
    pub name: &'o str,
    pub rounds: u64,
    /// Where it aborts, and at which visit.
    pub crash: Option<(Point, u64)>,
}

/// A child that waits for its signal to start.
pub struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// What a child said and how it ended.
#[derive(Debug)]
pub struct Ended {
    pub acknowledged: Vec<String>,
    /// Milliseconds it worked, if it came to an end.
    pub took: Option<u64>,
    pub status: ExitStatus,
    pub said: String,
}

impl Worker {
    /// Starts a child and waits until it is ready.
    pub fn start(order: &Order<'_>) -> Self {
        Self::start_by(Command::new(std::env::current_exe().unwrap()), order)
    }

    /// The same in a process whose files get no permissions of `mask`.
    pub fn start_masked(mask: &str, order: &Order<'_>) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "umask $0; exec \"$@\"", mask]).arg(std::env::current_exe().unwrap());
        Self::start_by(command, order)
    }

    fn start_by(mut command: Command, order: &Order<'_>) -> Self {
        command
            .args(["--exact", "child::do_a_job_for_another_process", "--ignored", "--nocapture"])
            .env(JOB, format!("{:?}", order.job))
            .env(AT, order.at)
            .env(NAME, order.name)
            .env(ROUNDS, order.rounds.to_string())
            .env("HOME", "/nonexistent")
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some((point, nth)) = order.crash {
            command.env(CRASH, format!("{point:?} {nth}"));
        }
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut worker = Self { child, input, output };
        worker.wait_for("READY");
        worker
    }

    pub fn wait_for(&mut self, word: &str) {
        let mut line = String::new();
        while line.trim_end() != word {
            line.clear();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the child never said {word}");
        }
    }

    /// Lets it begin.
    pub fn go(&mut self) {
        self.input.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    /// Ends it without a word.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ended {
        drop(self.input.take());
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let words = |key: &'static str| said.lines().filter_map(move |line| line.strip_prefix(key));
        Ended {
            acknowledged: words("ACKNOWLEDGED ").map(str::to_owned).collect(),
            took: words("TOOK ").next().map(|millis| millis.parse().unwrap()),
            status,
            said,
        }
    }
}

/// Starts a child, lets it begin and waits for its end.
pub fn run(order: &Order<'_>) -> Ended {
    let mut worker = Worker::start(order);
    worker.go();
    worker.end()
}

/// A line that the parent gets even if this process dies right after.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "other tests run this one in a process of its own"]
fn do_a_job_for_another_process() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let job = Job::ALL.into_iter().find(|job| format!("{job:?}") == variable(JOB)).unwrap();
    let (at, name) = (PathBuf::from(variable(AT)), variable(NAME));
    let rounds: u64 = variable(ROUNDS).parse().unwrap();
    say("READY");
    let mut signal = String::new();
    std::io::stdin().read_line(&mut signal).unwrap();
    let started = Instant::now();
    match job {
        Job::Init => {
            call(&host_in(&at, world(&name), Settings::default()), "init", json!({})).unwrap();
        }
        Job::Work => work(&at, &name, rounds),
        Job::WorkTwice => work_twice(&at, &name, rounds),
        Job::Checkpoint => {
            let connection = raw(&at);
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        }
        Job::HoldTheTurn => {
            let turnstile = std::fs::File::options().write(true).open(at.join("turnstile")).unwrap();
            turnstile.lock().unwrap();
            say("HOLDING");
            std::io::stdin().read_to_string(&mut signal).unwrap();
        }
        Job::Pin => {
            let repository = Repository::discover(&at).unwrap();
            let head = repository.head().unwrap().commit.unwrap();
            let name = RefName::below(&name).unwrap();
            let made = repository.refs().create(&*world("pin"), &name, &head).unwrap();
            say(&format!("ACKNOWLEDGED {made:?}"));
        }
        Job::Move | Job::Unpin | Job::Churn => edit_refs(job, &at, &name),
        Job::AddWorktree => {
            let (branch, path) = name.split_once('=').unwrap();
            let request = Request { branch, path: Path::new(path), base: "HEAD" };
            let made = Repository::discover(&at).unwrap().create_worktree(&*world(branch), &request);
            match made {
                Ok(made) => say(&format!("ACKNOWLEDGED made {}", made.branch)),
                Err(error) => say(&format!("ACKNOWLEDGED {}: {error}", error.field().unwrap_or("failed"))),
            }
        }
        Job::WatchOnATerminal => {
            rustix::process::setsid().unwrap();
            let terminal = program_side(Path::new(&name), true);
            rustix::process::ioctl_tiocsctty(&terminal).unwrap();
            let mut watch = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
            watch.args(["work", "watch", "--after-seq", "0"]).current_dir(&at).env_remove("FOREMERGE_DB");
            watch.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
            panic!("it did not become the watcher: {}", watch.exec());
        }
    }
    say(&format!("TOOK {}", started.elapsed().as_millis()));
}

fn edit_refs(job: Job, at: &Path, name: &str) {
    let repository = Repository::discover(at).unwrap();
    let id = |name: &str| repository.resolve_commit(name).unwrap();
    let (world, refs, old, new) = (world("refs"), repository.refs(), id("HEAD~1"), id("HEAD"));
    let named = |name: &str| RefName::below(name).unwrap();
    match job {
        Job::Move => refs.swap(&*world, &named(name), &old, &new).unwrap(),
        Job::Unpin => assert!(refs.delete(&*world, &named(name), &new).unwrap()),
        _ => {
            for number in 0_u64.. {
                let name = named(&format!("{name}/{number}"));
                refs.create(&*world, &name, &old).unwrap();
                refs.swap(&*world, &name, &old, &new).unwrap();
                refs.delete(&*world, &name, &new).unwrap();
            }
        }
    }
    say("ACKNOWLEDGED");
}

/// A world whose chance differs from that of every other child, with the crash that was ordered.
fn world(name: &str) -> Arc<dyn World> {
    let mut seed = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(name, &mut seed);
    let fake = Fake::new(std::hash::Hasher::finish(&seed));
    let Ok(crash) = std::env::var(CRASH) else { return Arc::new(fake) };
    let (point, nth) = crash.split_once(' ').unwrap();
    let point = Point::ALL.iter().find(|known| format!("{known:?}") == point).unwrap();
    Arc::new(fake.crashing_at(*point, nth.parse().unwrap()))
}

fn work(at: &Path, name: &str, rounds: u64) {
    let host = host_in(at, world(name), Settings::default());
    for round in 0..rounds {
        let agent = register(&host, &format!("{name}-{round}")).unwrap();
        say(&format!("ACKNOWLEDGED {agent}"));
        let intent = publish(&host, &agent, round).unwrap();
        say(&format!("ACKNOWLEDGED {intent}"));
    }
}

fn work_twice(at: &Path, name: &str, rounds: u64) {
    let host = host_in(at, world(name), Settings::default());
    std::thread::scope(|scope| {
        for side in ["left", "right"] {
            let host = &host;
            scope.spawn(move || {
                for round in 0..rounds {
                    let agent = register(host, &format!("{name}-{side}-{round}")).unwrap();
                    say(&format!("ACKNOWLEDGED {agent}"));
                    let intent = publish(host, &agent, round).unwrap();
                    say(&format!("ACKNOWLEDGED {intent}"));
                }
            });
        }
    });
}
