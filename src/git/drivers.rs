//! The filters of a repository at work, as git has them work. A long-running one that says `error` goes on with the next
//! file; one that says `abort` is not asked for that direction again; one that breaks off is started anew.

use std::collections::BTreeMap;
use std::io::Read;

use gix::bstr::{BStr, BString};
use gix::error::ResultExt;
use gix::filter::plumbing::Driver;
use gix::filter::plumbing::driver::process::Status;
use gix::filter::plumbing::driver::{Operation, Process, State, apply};

pub(super) struct Drivers {
    known: Vec<Driver>,
    /// Each by its command: two filters of one long-running program share it.
    running: BTreeMap<BString, State>,
    context: gix::command::Context,
}

/// What a long-running filter said of a file.
enum Said {
    /// It does not do such things.
    Nothing,
    Done(Vec<u8>),
    Refused(gix::Error),
}

impl Drivers {
    pub fn new(known: Vec<Driver>, context: gix::command::Context) -> Self {
        Self { known, running: BTreeMap::new(), context }
    }

    /// Whether the filter of this name is required; nothing where there is none.
    pub fn is_required(&self, name: &BStr) -> Option<bool> {
        self.known.iter().find(|driver| driver.name == name).map(|driver| driver.required)
    }

    /// What the filter makes of `source`, which is the file at `path`; nothing where nothing is configured to be run.
    pub fn apply(
        &mut self,
        name: &BStr,
        operation: Operation,
        source: &mut impl Read,
        path: &BStr,
    ) -> gix::Result<Option<Vec<u8>>> {
        let Some(driver) = self.known.iter().find(|driver| driver.name == name) else { return Ok(None) };
        let Some(program) = &driver.process else {
            let context = apply::Context { rela_path: path, ref_name: None, treeish: None, blob: None };
            let mut state = State::new(self.context.clone());
            let Some(mut output) = state.apply(driver, source, operation, context)? else { return Ok(None) };
            let mut made = Vec::new();
            output.read_to_end(&mut made).or_error()?;
            return Ok(Some(made));
        };
        let state = self.running.entry(program.clone()).or_insert_with(|| State::new(self.context.clone()));
        match ask(state, driver, operation, source, path) {
            Ok(Said::Nothing) => Ok(None),
            Ok(Said::Done(made)) => Ok(Some(made)),
            Ok(Said::Refused(error)) => Err(error),
            Err(error) => {
                // What it says next belongs to no file.
                self.running.remove(program);
                Err(error)
            }
        }
    }
}

/// What gix writes before the status that comes after the content.
const LATE: &str = "Process indicated error after reading: ";

/// An error if it broke off or made no sense.
fn ask(
    state: &mut State,
    driver: &Driver,
    operation: Operation,
    source: &mut impl Read,
    path: &BStr,
) -> gix::Result<Said> {
    let Some(Process::MultiFile { client, .. }) = state.maybe_launch_process(driver, operation, path)? else {
        return Ok(Said::Nothing);
    };
    let command = operation.as_str();
    if !client.capabilities().contains(command) {
        return Ok(Said::Nothing);
    }
    let mut about = [("pathname", path.to_owned())].into_iter();
    let mut made = Vec::new();
    let status = match client.invoke(command, &mut about, source)? {
        Status::Named(status) if status == "success" => {
            let outcome = client.as_read().read_to_end(&mut made);
            let Err(error) = outcome else { return Ok(Said::Done(made)) };
            match error.to_string().strip_prefix(LATE) {
                Some(status) => status.to_owned(),
                None => return Err(error).or_error(),
            }
        }
        Status::Named(status) => status,
        Status::Previous | Status::Unset => String::new(),
    };
    let error = gix::error::message!("it answered {status:?} to {command:?}").into();
    match status.as_str() {
        "error" => Ok(Said::Refused(error)),
        "abort" => {
            client.capabilities_mut().remove(command);
            Ok(Said::Refused(error))
        }
        _ => Err(error),
    }
}
