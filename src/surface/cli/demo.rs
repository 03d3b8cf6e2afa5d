//! `foremerge demo`: the whole idea in one minute, on a real repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::output::Output;
use super::tour::{self, Tour};
use crate::failure::Failure;
use crate::git::scaffold;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("demo")
        .about("Show two agents colliding, in a throw-away repository")
        .after_help(
            "Makes a small repository with two worktrees, runs real commands in them as two agents, and removes it all \
             again. Nothing outside is touched.\n\nExample:\n  foremerge demo --keep /tmp/shop",
        )
        .arg(
            Arg::new("keep")
                .long("keep")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Make it in DIR, which must be new or empty, and keep it"),
        )
}

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

pub(super) fn run(arguments: &ArgMatches, world: Arc<dyn World>, output: &Output) -> Result<(), Failure> {
    let kept = arguments
        .get_one::<PathBuf>("keep")
        .map(|directory| new_directory(&*world, directory))
        .transpose()?;
    let temporary = tempfile::tempdir()
        .map_err(|error| Failure::invalid("demo", format!("no temporary directory can be made: {error}")))?;
    let root = kept.clone().unwrap_or_else(|| temporary.path().to_owned());
    let shop = root.join("shop");
    let (stripe, paypal) = (root.join("stripe"), root.join("paypal"));
    scaffold::create(&shop, FILES, "Take payments", COMMITTED_AT)?;
    scaffold::add_worktree(&shop, "stripe", &stripe)?;
    scaffold::add_worktree(&shop, "paypal", &paypal)?;

    let tour = Tour::new(world, output, root.clone());
    tour::tell(&tour, &shop, &stripe, &paypal)?;
    if kept.is_some() {
        tour.say(&format!(
            "Everything is in {}; look around with foremerge -C {} status",
            root.display(),
            shop.display()
        ));
    }
    Ok(())
}

fn new_directory(world: &dyn World, directory: &Path) -> Result<PathBuf, Failure> {
    let refuse = |why: String| Failure::invalid("keep", why);
    let started = world.current_dir().map_err(|error| refuse(error.to_string()))?;
    let directory = started.join(directory);
    std::fs::create_dir_all(&directory)
        .map_err(|error| refuse(format!("{}: {error}", directory.display())))?;
    let empty = std::fs::read_dir(&directory).is_ok_and(|mut entries| entries.next().is_none());
    if !empty {
        return Err(refuse(format!("{} is not empty", directory.display())));
    }
    directory.canonicalize().map_err(|error| refuse(error.to_string()))
}
