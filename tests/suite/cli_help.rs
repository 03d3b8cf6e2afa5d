//! What a newcomer learns from the program itself, and what it says to somebody who slipped.

use foremerge::operations::registry;
use foremerge::surface;
use foremerge::world::Fake;
use serde_json::json;

use crate::cli::{self, publishing, text};
use crate::sandbox::{Sandbox, scrubbed};

#[test]
fn the_example_of_the_first_help_runs_as_it_stands() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&root);
    let help = cli.shown(["--help"]);
    assert!(help.contains("The rule that matters: "), "{help}");
    let (_, example) = help.split_once("Example, in a repository of yours:\n").unwrap();
    let (example, _) = example.split_once("\n\n").unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_foremerge")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", program.display());
    let ran = scrubbed("sh").args(["-euc", example]).env("PATH", path).current_dir(&root).output().unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(shown.contains("\nWORK 1  INTENT 1\n") && shown.contains("  payments  "), "{shown}");
}

/// The commands that a help shows to be run, each on one line, as they stand between ordinary text.
fn examples(help: &str) -> Vec<String> {
    let mut examples: Vec<String> = Vec::new();
    let mut open = false;
    for line in help.lines() {
        let begins = ["  foremerge ", "  export "].into_iter().any(|word| line.starts_with(word));
        assert!(!(begins || open) || line.len() <= 80, "wider than 80 columns: {line}");
        match examples.last_mut() {
            Some(last) if open => *last = format!("{} {}", last.trim_end_matches('\\'), line.trim()),
            _ if begins => examples.push(line.trim().to_owned()),
            _ => continue,
        }
        open = line.ends_with(" \\");
    }
    examples
}

/// The words of a command as a shell takes them apart, up to a pipe.
fn shell_words(command: &str) -> Vec<String> {
    let command =
        command.strip_prefix("export FOREMERGE_AGENT=$(").map_or(command, |rest| &rest[..rest.len() - 1]);
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for c in command.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '|' if !quoted => break,
            ' ' if !quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    assert!(!quoted, "a quotation does not end: {command}");
    words.extend(word);
    words
}

#[test]
fn every_example_in_help_can_be_run_as_it_is_printed_at_every_width() {
    fn all(command: &clap::Command) -> Vec<Vec<String>> {
        let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
        let below = inner.flat_map(|inner| {
            let named = |words: Vec<String>| [vec![inner.get_name().to_owned()], words].concat();
            all(inner).into_iter().map(named)
        });
        std::iter::once(Vec::new()).chain(below).collect()
    }
    let mut runnable = 0;
    for width in ["60", "80", "100", "140"] {
        let command = || surface::cli::command(&Fake::new(1).with_variable("COLUMNS", width));
        for words in all(&command()) {
            let line = ["foremerge"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
            let help = command().try_get_matches_from(line).unwrap_err().to_string();
            let examples = examples(&help);
            assert!(!examples.is_empty(), "{words:?} has none at {width}: {help}");
            for example in examples {
                let filled = |word: String| match word.as_str() {
                    "AGENT_ID" => "agt_1f2e3d4c".to_owned(),
                    "INTENT_ID" => "int_1f2e3d4c".to_owned(),
                    "CONFLICT_ID" => "cfl_1f2e3d4c".to_owned(),
                    _ => word,
                };
                let typed: Vec<_> = shell_words(&example).into_iter().map(filled).collect();
                let with = |acts: &str| [&typed[..], &[acts.to_owned(), "agt_1f2e3d4c".to_owned()]].concat();
                // Whoever acts may be set once and left out.
                let parsed = [typed.clone(), with("--agent"), with("--from")]
                    .into_iter()
                    .any(|typed| command().try_get_matches_from(typed).is_ok());
                assert!(parsed, "{words:?} at {width}: {example}");
                runnable += 1;
            }
            let long = |line: &&str| {
                let is_prose = !line.starts_with(' ') && !line.starts_with("Usage: ");
                is_prose && line.chars().count() > width.parse().unwrap()
            };
            assert_eq!(help.lines().find(long), None, "{words:?} is too wide for {width}");
        }
    }
    assert!(runnable > 4 * 40, "{runnable}");
}

#[test]
fn the_whole_story_fits_on_one_screen_and_names_real_commands_in_order() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root).with("COLUMNS", "80");
    let story = cli.shown(["help", "lifecycle"]);
    assert!(story.lines().count() <= 36 && story.lines().all(|line| line.len() <= 80), "{story}");
    assert_eq!(cli.shown(["lifecycle"]), story);
    let commands: Vec<_> = story.lines().filter_map(|line| line.strip_prefix("  foremerge ")).collect();
    for command in &commands {
        let words: Vec<_> = command.split(' ').collect();
        let known = registry::ALL.iter().any(|entry| match entry.spec.cli.noun {
            Some(noun) => words[0] == noun && words.get(1) == Some(&entry.spec.cli.verb),
            None => words[0] == entry.spec.cli.verb,
        });
        assert!(known, "{command}");
    }
    let at = |beginning: &str| {
        commands.iter().position(|command| command.starts_with(beginning)).expect(beginning)
    };
    let order = ["init", "agent register", "intent publish", "work claim", "work start", "status"].map(at);
    assert!(order.is_sorted(), "{story}");
    for state in foremerge::domain::IntentStatus::ALL {
        assert!(story.contains(state.as_str()), "{state} is missing");
    }
    assert!(cli.shown(["--help"]).contains("foremerge help lifecycle"));
    for (words, meant) in
        [(&["help", "lifecycl"][..], "'lifecycle'"), (&["help", "agent", "regster"], "'register'")]
    {
        assert!(cli.refusal("INVALID_INPUT", words).contains(meant), "{words:?}");
    }
}

#[test]
fn a_verb_without_its_noun_or_behind_another_is_answered_with_both_words() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root);
    let tip = |words: &[&str]| {
        let message = cli.refusal("INVALID_INPUT", words);
        let plain = cli.run(words).stderr;
        let (_, tip) = message.split_once("; tip: ").unwrap_or_else(|| panic!("no tip: {message}"));
        assert!(plain.contains(tip), "{plain}");
        tip.to_owned()
    };
    let verbs = || registry::ALL.iter().filter_map(|entry| Some((entry.spec.cli.noun?, entry.spec.cli.verb)));
    let nouns = || verbs().map(|(noun, _)| noun);
    for (noun, verb) in verbs() {
        let tip_of_one = tip(&[verb]);
        assert!(tip_of_one.contains(&format!("'{noun} {verb}'")), "{tip_of_one}");
        assert!(!tip_of_one.contains(&format!("'{verb}'")), "{tip_of_one}");
        if let Some(other) = nouns().find(|other| verbs().all(|known| known != (*other, verb))) {
            let tip = tip(&[other, verb]);
            assert!(
                tip.contains(&format!("'{noun} {verb}'")) && !tip.contains(&format!("'{verb}'")),
                "{tip}"
            );
        }
    }
    for (words, meant) in [
        (&["regster"][..], "'agent register'"),
        (&["help", "register"], "'agent register'"),
        (&["Publish"], "'intent publish'"),
        (&["agent", "publsh"], "'intent publish'"),
        (&["agent", "regster"], "'register'"),
        (&["statu"], "'status'"),
        (&["wach"], "'work watch'"),
    ] {
        assert!(tip(words).contains(meant), "{words:?}: {}", tip(words));
    }
}

#[test]
fn an_id_that_nothing_has_names_what_is_like_it() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("payments");
    let intent = text(&cli.publish(&agent, &["symbol:X=replace"])["intent"]["id"]);
    cli.publish(&cli.agent("other"), &["symbol:X=extend"]);
    let conflict = text(&cli.data(["conflicts", "list"])[0]["id"]);
    let slipped = |id: &str| {
        let last = if id[11..12] == *"0" { "1" } else { "0" };
        format!("{}{last}", &id[..11])
    };
    for (words, id, named) in [
        (["intent", "show"], &intent, format!("{} (s)", &intent[..12])),
        (["conflicts", "show"], &conflict, conflict[..12].to_owned()),
        (["agent", "retire"], &agent, format!("{} (payments)", &agent[..12])),
    ] {
        let error = cli.refused("NOT_FOUND", words.into_iter().chain([slipped(id).as_str()]));
        let message = text(&error["message"]);
        assert!(message.ends_with(&format!("; did you mean {named}?")), "{message}");
        assert_eq!(error["details"]["nearest"], json!([named]));
    }
    let message = cli.refusal("NOT_FOUND", publishing(&slipped(&agent), &[]));
    assert!(message.contains("(payments)"), "{message}");
    let unlike: String = agent[4..12].chars().map(|digit| if digit == 'a' { 'b' } else { 'a' }).collect();
    let error = cli.refused("NOT_FOUND", ["agent", "retire", &format!("agt_{unlike}")]);
    let details = json!({ "field": "id", "reference": format!("agt_{unlike}") });
    assert_eq!(error["details"], details, "{error}");
}

#[test]
fn a_name_where_an_id_belongs_is_answered_with_the_id() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&root);
    let publish = |name: &str| cli.refusal("INVALID_INPUT", publishing(name, &[]));
    assert!(!publish("payments").contains("has the id"), "there is no ledger to ask");
    cli.data(["init"]);
    let agent = cli.agent("payments");
    let named = format!("the agent `payments` has the id {agent}");
    for written in ["payments", "Payments", "paymnets", " payments "] {
        let message = publish(written);
        assert!(message.contains(&named) && message.contains("is not the id of an agent"), "{message}");
    }
    assert!(!publish("somebody").contains("has the id"));
    let plain = cli.run(publishing("payments", &[]));
    assert!(plain.stderr.contains(&named), "{}", plain.stderr);
    let variable = cli.with("FOREMERGE_AGENT", "payments");
    let words = ["intent", "publish", "--task", "t", "--summary", "s"];
    assert!(variable.refusal("INVALID_INPUT", words).contains(&named));
    let elsewhere = cli::at(&sandbox.root);
    let words = [&["-C", "r"], &publishing("payments", &[])[..]].concat();
    assert!(elsewhere.refusal("INVALID_INPUT", words).contains(&named), "the ledger is the one of --cwd");
    assert!(!cli.refusal("INVALID_INPUT", ["intent", "show", "payments"]).contains("has the id"));

    let second = cli.agent("payments");
    let message = publish("payments");
    assert!(
        message.contains("has the ids ") && message.contains(&agent) && message.contains(&second),
        "{message}"
    );
}

#[test]
fn a_hostile_name_is_suggested_without_harm() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let hostile = "pay\u{1b}[31m\nforemerge: forged\u{202e}";
    cli.agent(hostile);
    let ran = cli.run(publishing("pay\u{1b}[31m\nforemerge: forgde\u{202e}", &[]));
    assert!(ran.stderr.contains("has the id agt_"), "{}", ran.stderr);
    assert!(
        ran.stderr.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')),
        "{:?}",
        ran.stderr
    );
    assert!(!ran.stderr.lines().any(|line| line.starts_with("foremerge: forged")), "{}", ran.stderr);
}

#[test]
fn a_mistyped_word_is_put_right() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    for (words, meant) in [
        (publishing(&agent, &["symbl:X=add"]), "`symbol`"),
        (publishing(&agent, &["symbol:X=extnd"]), "`extend`"),
        (vec!["conflicts", "list", "--status", "opne"], "`OPEN`"),
        (vec!["conflicts", "check", "--intent", "t", "--fail-on", "hihg"], "`HIGH`"),
    ] {
        let message = cli.refusal("INVALID_INPUT", &words);
        assert!(message.contains(&format!("did you mean {meant}?")), "{words:?}: {message}");
    }
}
