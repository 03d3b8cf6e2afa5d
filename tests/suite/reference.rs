//! docs/reference is written from the product itself; this keeps it true.
#![expect(clippy::disallowed_methods, reason = "a test reads its own switch")]

use std::fmt::Write as _;
use std::path::Path;

use clap::Command;
use foremerge::failure::{Code, Exit};
use foremerge::surface::cli;
use foremerge::world::{Fake, World};

fn holds(file: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(file);
    if std::env::var_os("FOREMERGE_BLESS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/reference/{file} is out of date; see CONTRIBUTING.md for the command");
}

#[test]
fn the_reference_of_codes_is_what_the_product_does() {
    let mut text = String::from(
        "# Failure codes and exit statuses\n\nWritten from `src/failure`. A failure is `{\"ok\": false, \"error\": \
         {\"code\", \"message\", \"details\"?, \"next\"?}}`.\n\n| code | HTTP | exit | retry | when |\n|---|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let retry = if code.is_retryable() { "yes" } else { "no" };
        let (status, exit) = (code.http_status(), code.exit().status());
        writeln!(text, "| {code} | {status} | {exit} | {retry} | {} |", code.meaning()).unwrap();
    }
    text.push_str("\n| exit | meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        writeln!(text, "| {} | {} |", exit.status(), exit.meaning()).unwrap();
    }
    holds("codes.md", &text);
}

#[test]
fn the_reference_of_commands_is_what_help_says() {
    let world: &dyn World = &Fake::new(1).with_variable("COLUMNS", "96");
    let mut text = String::from("# Commands\n\nWritten from `--help`.\n");
    let mut root = cli::command(world);
    root.build();
    describe(&mut text, &mut root);
    holds("commands.md", &text);
}

fn describe(text: &mut String, command: &mut Command) {
    let title = command.get_bin_name().unwrap_or("foremerge").to_owned();
    let help = command.render_long_help().to_string();
    let help: Vec<_> = help.lines().map(str::trim_end).collect();
    write!(text, "\n## {title}\n\n```text\n{}\n```\n", help.join("\n").trim_end()).unwrap();
    for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
        describe(text, inner);
    }
}
