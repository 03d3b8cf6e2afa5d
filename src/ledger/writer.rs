//! The one thread of a process that writes.
//!
//! Work queues up; what has queued up when a turn comes is committed together, each piece in a
//! savepoint of its own where there are several, and every caller is told after that commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::Connection;

use super::chain;
use super::error::Error;
use super::mark::{Mark, MarkFile};
use super::turnstile::Turnstile;
use super::write::Ends;
use super::{Shared, Transaction, open};
use crate::world::Point;

/// What a write does when another process has the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// It waits, up to [`super::Settings::patience`].
    Wait,
    /// It gives up at once: for what is nice to have.
    Skip,
}

/// Most pieces of work in one commit.
const BATCH: usize = 64;
/// How long a caller that would rather not wait waits for the others of its own process.
const SKIP: Duration = Duration::from_millis(200);

/// Tells a caller how its work ended, once the commit is decided.
type Finish = Box<dyn FnOnce(Result<(), Error>) + Send>;
/// Does the work; `true` keeps it.
type Work = Box<dyn FnOnce(&mut Transaction<'_>) -> (bool, Finish) + Send>;

struct Job {
    /// Who decides the job's fate: see the constants.
    claim: Arc<AtomicU8>,
    patience: Patience,
    work: Work,
    /// Answers a job that never ran.
    refuse: Finish,
}

const WAITING: u8 = 0;
const STARTED: u8 = 1;
const ABANDONED: u8 = 2;

impl Job {
    fn start(&self) -> bool {
        self.claim.compare_exchange(WAITING, STARTED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Mutex<Option<Thread>>,
    /// Set when a caller gave up on a turn that may never come: nobody waits for it again.
    stuck: AtomicBool,
}

struct Thread {
    queue: mpsc::Sender<Job>,
    handle: std::thread::JoinHandle<()>,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, thread: Mutex::new(None), stuck: AtomicBool::new(false) }
    }

    pub(super) fn run<T, E>(
        &self,
        patience: Patience,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (answer, answered) = mpsc::sync_channel::<Result<T, E>>(1);
        let refusal = answer.clone();
        let claim = Arc::new(AtomicU8::new(WAITING));
        let job = Job {
            claim: Arc::clone(&claim),
            patience,
            work: Box::new(move |transaction| {
                let outcome = work(transaction);
                let keep = outcome.is_ok();
                let finish: Finish = Box::new(move |commit| {
                    let told = outcome.and_then(|value| commit.map(|()| value).map_err(E::from));
                    // A caller that is gone is not an error: its work stands.
                    let _ = answer.send(told);
                });
                (keep, finish)
            }),
            refuse: Box::new(move |outcome| {
                if let Err(error) = outcome {
                    let _ = refusal.send(Err(error.into()));
                }
            }),
        };
        self.enqueue(job)?;
        let died = || Err(E::from(Error::Internal("the write was given up".to_owned())));
        let patience = match patience {
            Patience::Wait => self.shared.settings.patience,
            Patience::Skip => SKIP.min(self.shared.settings.patience),
        };
        match answered.recv_timeout(patience) {
            Ok(outcome) => outcome,
            Err(mpsc::RecvTimeoutError::Disconnected) => died(),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let abandoned =
                    claim.compare_exchange(WAITING, ABANDONED, Ordering::SeqCst, Ordering::SeqCst);
                if abandoned.is_ok() {
                    self.stuck.store(true, Ordering::SeqCst);
                    return Err(Error::Busy("other writers hold it; nothing was written".to_owned()).into());
                }
                answered.recv().unwrap_or_else(|_| died())
            }
        }
    }

    fn enqueue(&self, job: Job) -> Result<(), Error> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match &mut *thread {
            Some(running) => running,
            none => {
                let (queue, jobs) = mpsc::channel();
                let shared = Arc::clone(&self.shared);
                let builder = std::thread::Builder::new().name("ledger-writer".to_owned());
                none.insert(Thread { queue, handle: builder.spawn(move || serve(&shared, &jobs))? })
            }
        };
        running.queue.send(job).map_err(|_| Error::Internal("the writer has stopped".to_owned()))
    }
}

impl Drop for Writer {
    /// Lets the writer finish what it does after answering: a short-lived process would
    /// otherwise never complete a checkpoint.
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Thread { queue, handle }) = thread {
            drop(queue);
            if !self.stuck.load(Ordering::SeqCst) {
                // A writer that panicked has nothing left to finish.
                let _ = handle.join();
            }
        }
    }
}

/// What the writer keeps open between commits.
struct Desk {
    connection: Connection,
    _in_use: open::InUse,
    turnstile: Turnstile,
    mark: MarkFile,
}

impl Desk {
    fn open(shared: &Shared) -> Result<Self, Error> {
        // Nothing is made beside a file that is not the one that was opened.
        open::still_the_same(&shared.place, shared.identity)?;
        // The turnstile first: on a read-only medium this is the refusal that says so.
        let turnstile = Turnstile::open(&shared.place)?;
        let mark = MarkFile::open(&shared.place)?;
        let (connection, in_use) = open::writer(&shared.place, shared.settings.durability, shared.identity)?;
        Ok(Self { connection, _in_use: in_use, turnstile, mark })
    }
}

fn serve(shared: &Shared, jobs: &mpsc::Receiver<Job>) {
    let mut desk = None;
    while let Ok(first) = jobs.recv() {
        let mut batch = vec![first];
        batch.extend(jobs.try_iter().take(BATCH - 1));
        if desk.is_none() {
            match Desk::open(shared) {
                Ok(opened) => desk = Some(opened),
                Err(error) => {
                    refuse(batch, &error);
                    continue;
                }
            }
        }
        if let Some(open) = &desk {
            commit(shared, open, batch);
            checkpoint(shared, open);
        }
    }
}

fn refuse(batch: Vec<Job>, error: &Error) {
    for job in batch.into_iter().filter(Job::start) {
        (job.refuse)(Err(error.clone()));
    }
}

/// Runs a batch as one transaction and tells every caller how it ended.
fn commit(shared: &Shared, desk: &Desk, batch: Vec<Job>) {
    let turn = if batch.iter().any(|job| job.patience == Patience::Wait) {
        desk.turnstile.pass()
    } else {
        desk.turnstile.pass_if_free()
    };
    let turn = match turn {
        Ok(turn) => turn,
        Err(error) => return refuse(batch, &error),
    };
    let ends = match begin(shared, desk) {
        Ok(ends) => ends,
        Err(error) => {
            roll_back(&desk.connection);
            return refuse(batch, &error);
        }
    };
    shared.world.reached(Point::WriteBegun);
    let mut finishes = Vec::with_capacity(batch.len());
    let outcome = run(shared, desk, batch, ends, &mut finishes);
    if outcome.is_err() {
        roll_back(&desk.connection);
    }
    drop(turn);
    for finish in finishes {
        finish(outcome.clone());
    }
}

fn begin(shared: &Shared, desk: &Desk) -> Result<Ends, Error> {
    let at = |error: rusqlite::Error| Error::at(shared.place.file(), &error);
    desk.connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([])).map_err(at)?;
    open::still_the_same(&shared.place, shared.identity)?;
    let head = chain::head(&desk.connection)?;
    let own = chain::own_replica(&desk.connection, desk.mark.read(), shared.identity.inode, &*shared.world)?;
    Ok(Ends { head, own })
}

fn run(
    shared: &Shared,
    desk: &Desk,
    batch: Vec<Job>,
    ends: Ends,
    finishes: &mut Vec<Finish>,
) -> Result<(), Error> {
    let at = |error: rusqlite::Error| Error::at(shared.place.file(), &error);
    let savepoint =
        |sql: &str| desk.connection.prepare_cached(sql).and_then(|mut s| s.execute([])).map_err(at);
    let mut ends = ends;
    let mut failure: Option<Error> = None;
    // A write without company is undone with the whole transaction: a savepoint copies every page.
    let alone = batch.len() == 1;
    for job in batch.into_iter().filter(Job::start) {
        // Whatever spoils the transaction spoils it for all: those that did not run are told so.
        if let Some(error) = &failure {
            (job.refuse)(Err(error.clone()));
            continue;
        }
        let begun = if alone { Ok(0) } else { savepoint("SAVEPOINT job") };
        if let Err(error) = begun {
            (job.refuse)(Err(error.clone()));
            failure = Some(error);
            continue;
        }
        let mut transaction = Transaction::new(&desk.connection, &*shared.world, ends.clone());
        let work = job.work;
        let kept = if let Ok((keep, finish)) = catch_unwind(AssertUnwindSafe(|| work(&mut transaction))) {
            finishes.push(finish);
            keep
        } else {
            (job.refuse)(Err(Error::Internal("the write panicked; nothing was written".to_owned())));
            false
        };
        // A full disk rolls everything back by itself; what was in the batch is gone.
        if desk.connection.is_autocommit() {
            failure = Some(Error::ReadOnly {
                path: shared.place.file().to_owned(),
                why: "the disk refused the write".to_owned(),
            });
            continue;
        }
        if kept {
            ends = transaction.ends;
        }
        if alone {
            if kept {
                continue;
            }
            roll_back(&desk.connection);
            return Ok(());
        }
        let undone = if kept { Ok(()) } else { savepoint("ROLLBACK TO job").map(drop) };
        failure = undone.and_then(|()| savepoint("RELEASE job").map(drop)).err();
    }
    if let Some(error) = failure {
        return Err(error);
    }
    shared.world.reached(Point::CommitPending);
    savepoint("COMMIT")?;
    shared.world.reached(Point::Committed);
    let Ends { head, own } = &ends;
    let inode = shared.identity.inode;
    desk.mark.move_to(Mark { replica: own.id, number: own.number, seq: head.seq, inode });
    shared.world.reached(Point::MarkWritten);
    Ok(())
}

fn roll_back(connection: &Connection) {
    if !connection.is_autocommit() {
        // A connection that cannot roll back is one whose file is lost; the next write says so.
        let _ = connection.execute_batch("ROLLBACK");
    }
}

/// Folds a long write-ahead log back into the file, after everybody was told.
fn checkpoint(shared: &Shared, desk: &Desk) {
    let long = std::fs::metadata(shared.place.wal()).is_ok_and(|wal| wal.len() > open::CHECKPOINT_BYTES);
    if long {
        // Best effort: a reader in the way only delays it.
        let _ = desk.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}
