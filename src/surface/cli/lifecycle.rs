//! `foremerge help lifecycle`: the whole story on one screen.

use std::fmt::Write as _;

use clap::Command;

use super::guide::wrapped;

pub(super) const LIFECYCLE: &str = "lifecycle";

/// A command: its family, if any, its own word, and what follows.
type Typed = (&'static str, &'static str, &'static str);

/// What happens, in order: the command and the line about it.
const STEPS: &[(&str, &[Typed])] = &[
    (
        "Once per repository, and once per agent and session, each in its own worktree",
        &[
            ("", "init", ""),
            ("worktree", "create", "--branch BRANCH --path DIR"),
            ("agent", "register", "--name NAME"),
        ],
    ),
    (
        "Before you write code, say what you touch; the answer names who collides",
        &[
            ("intent", "publish", "--task TASK --summary TEXT --scope symbol:X=replace"),
            ("conflicts", "show", "CONFLICT_ID"),
        ],
    ),
    (
        "Talk to the other side, change your plan, and record what you agree on",
        &[
            ("coordinate", "inbox", "AGENT_ID --mark-read"),
            ("coordinate", "send", "--to AGENT_ID --conflict CONFLICT_ID --message TEXT"),
            ("intent", "amend", "INTENT_ID --scope symbol:Y=add"),
            ("conflicts", "resolve", "CONFLICT_ID --resolution TEXT --rationale TEXT"),
        ],
    ),
    (
        "Claim what you work on (a lease, never a lock), then begin",
        &[("work", "claim", "--intent INTENT_ID --scope symbol:X"), ("work", "start", "INTENT_ID")],
    ),
    (
        "Look around at any time; work can be given up, or taken over from the silent",
        &[
            ("", "status", ""),
            ("work", "query", "--scope symbol:X"),
            ("work", "discard", "INTENT_ID --reason TEXT"),
            ("work", "adopt", "INTENT_ID --reason TEXT"),
        ],
    ),
];

const STATES: &str = "Work is an INTENT when it is published, then CLAIMED, IN_PROGRESS, PROVISIONAL, VALIDATED, \
                      ACCEPTED and at last COMMITTED, or DISCARDED on the way.";

fn story() -> String {
    let mut story = String::from("How work goes with Foremerge\n");
    for (why, commands) in STEPS {
        // Writing to a string cannot fail.
        let _ = writeln!(story, "\n{why}:");
        for (noun, verb, rest) in *commands {
            let family = Some(*noun).filter(|noun| !noun.is_empty());
            let words = ["foremerge"].into_iter().chain(family).chain([*verb, *rest]);
            let words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            let _ = writeln!(story, "  {words}");
        }
    }
    let _ = write!(story, "\n{STATES}\nWith FOREMERGE_AGENT set, the agent who acts need not be named.");
    story
}

/// A command that does nothing but be explained.
pub(super) fn command(width: u16) -> Command {
    Command::new(LIFECYCLE)
        .hide(true)
        .about("The whole story on one screen")
        .help_template(wrapped(&story(), width) + "\n")
}
