//! `foremerge demo`: the whole idea in one minute, on a real repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;

use super::grammar;
use super::output::Output;
use super::tour::{self, Tour};
use crate::failure::{Code, Failure};
use crate::git::worktree::Request;
use crate::git::{Repository, scaffold};
use crate::service::host;
use crate::world::World;

const FILES: &[(&str, &str)] = &[
    ("README.md", "# shop\n\nTakes orders and payments.\n"),
    (
        "src/payments.py",
        "class PaymentService:\n    \"\"\"Charges a customer.\"\"\"\n\n    def charge(self, customer, cents):\n        \
         raise NotImplementedError\n",
    ),
    (
        "src/checkout.py",
        "from payments import PaymentService\n\n\ndef check_out(cart, payments: PaymentService):\n    \
         return payments.charge(cart.customer, cart.total())\n",
    ),
];

/// The commit of the demonstration is made at this moment, so that it is the same every time.
const COMMITTED_AT: i64 = 1_786_795_200;

pub(super) fn run(
    arguments: &ArgMatches,
    globals: &ArgMatches,
    world: Arc<dyn World>,
    output: &Output,
) -> Result<(), Failure> {
    let started = grammar::path(arguments, globals, grammar::CWD);
    let kept = arguments
        .get_one::<PathBuf>("keep")
        .map(|directory| new_directory(&*world, started.as_deref(), directory))
        .transpose()?;
    let (root, _removed_when_dropped) = if let Some(kept) = &kept {
        (kept.clone(), None)
    } else {
        let made = tempfile::tempdir().map_err(|error| {
            Failure::new(Code::InternalError, format!("no temporary directory can be made: {error}"))
        })?;
        (made.path().to_owned(), Some(made))
    };
    let shop = root.join("shop");
    let (stripe, paypal) = (root.join("stripe"), root.join("paypal"));
    scaffold::create(&shop, FILES, "Take payments", COMMITTED_AT)?;
    for (branch, path) in [("stripe", &stripe), ("paypal", &paypal)] {
        Repository::discover(&shop)?.create_worktree(&*world, &Request { branch, path, base: "HEAD" })?;
    }

    let tour = Tour::new(world, output, root.clone());
    tour::tell(&tour, &shop, &stripe, &paypal)?;
    if kept.is_some() {
        tour.say(&format!(
            "Everything is in {}; look around with {}",
            root.display(),
            tour::shell(&["foremerge", "-C", &shop.to_string_lossy(), "status"])
        ));
    }
    Ok(())
}

fn new_directory(world: &dyn World, cwd: Option<&Path>, directory: &Path) -> Result<PathBuf, Failure> {
    let refuse = |why: String| Failure::invalid("keep", why, "a directory that is new or empty");
    let directory = if directory.is_absolute() {
        directory.to_owned()
    } else {
        host::started_at(world, cwd).map_err(refuse)?.join(directory)
    };
    std::fs::create_dir_all(&directory)
        .map_err(|error| refuse(format!("{}: {error}", directory.display())))?;
    let empty = std::fs::read_dir(&directory).is_ok_and(|mut entries| entries.next().is_none());
    if !empty {
        return Err(refuse(format!("{} is not empty", directory.display())));
    }
    directory.canonicalize().map_err(|error| refuse(error.to_string()))
}
