//! Naming things by the beginning of their id, and lists a page at a time.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use foremerge::domain::Timestamp;
use foremerge::failure::Code;
use foremerge::world::{Fake, Hook, Point, World};
use serde_json::{Value, json};

use crate::cli::{self, Cli, text, texts};
use crate::library::{Library, publishing};
use crate::sandbox::Sandbox;

#[test]
fn six_digits_name_an_entity_in_any_case_and_five_do_not() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let intent = text(&cli.publish(&one, &["symbol:X=replace"])["intent"]["id"]);
    let conflict = text(&cli.publish(&other, &["symbol:X=extend"])["conflicts"][0]["id"]);
    for digits in [6, 7, 20, 32] {
        let short = |id: &str| id[..4 + digits].to_owned();
        for spelled in [short(&intent), short(&intent).to_uppercase(), format!(" {} ", short(&intent))] {
            assert_eq!(text(&cli.data(["intent", "show", &spelled])["intent"]["id"]), intent, "{spelled:?}");
        }
        assert_eq!(text(&cli.data(["conflicts", "show", &short(&conflict)])["id"]), conflict);
        let agent = short(&one);
        let published = cli.data([
            "intent",
            "publish",
            "--agent",
            &agent,
            "--task",
            "t",
            "--summary",
            "s",
            "--depends-on",
            &short(&intent),
        ]);
        assert_eq!(text(&published["intent"]["agent_id"]), one);
        assert_eq!(texts(&published["intent"]["depends_on"]), std::slice::from_ref(&intent));
    }
    let wrong =
        [&intent[..9], &intent[4..], "int_", "int_00000g", &conflict, &one, "", &format!("{intent}0")];
    for bad in wrong {
        let message = cli.refusal("INVALID_INPUT", ["intent", "show", bad]);
        assert!(message.contains("`int_` and 6 to 32 hexadecimal digits"), "{bad:?}: {message}");
    }
    assert!(cli.refusal("INVALID_INPUT", ["conflicts", "show", &intent]).contains("conflict"));
    let absent = if intent.starts_with("int_0") { "int_ffffffff" } else { "int_00000000" };
    assert!(cli.refusal("NOT_FOUND", ["intent", "show", absent]).contains(absent));
}

/// A world in which all ids begin with the same eight digits.
struct Crowded {
    fake: Fake,
    count: AtomicU64,
}

impl World for Crowded {
    fn now(&self) -> Timestamp {
        self.fake.now()
    }
    fn fill_random(&self, bytes: &mut [u8]) -> io::Result<()> {
        bytes.fill(0xab);
        if let Some(end) = bytes.last_chunk_mut() {
            *end = self.count.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        }
        Ok(())
    }
    fn variable(&self, name: &str) -> Option<OsString> {
        self.fake.variable(name)
    }
    fn current_dir(&self) -> io::Result<PathBuf> {
        self.fake.current_dir()
    }
    fn enter(&self, directory: &Path) -> io::Result<()> {
        self.fake.enter(directory)
    }
    fn run_hook(&self, hook: &Hook<'_>) -> io::Result<Option<i32>> {
        self.fake.run_hook(hook)
    }
    fn reached(&self, _: Point) {}
}

#[test]
fn a_scope_that_is_not_claimed_is_named_with_the_field_it_was_given_in() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    let intent = text(&cli.publish(&agent, &["symbol:X=replace"])["intent"]["id"]);
    let error =
        cli.refused("NOT_FOUND", ["work", "release", &intent, "--agent", &agent, "--scope", "symbol:Nope"]);
    assert_eq!(error["details"], json!({ "field": "scopes", "reference": "symbol:Nope" }));
}

#[test]
fn an_id_that_fits_several_is_refused_with_those_it_fits() {
    let library =
        Library::with(|root| Crowded { fake: Fake::new(1).started_in(root), count: AtomicU64::new(0) });
    let mut agents: Vec<_> = (0..12).map(|number| library.agent(&format!("agent {number}"))).collect();
    agents.sort();
    let failure = library.refusal(Code::InvalidInput, "publish_intent", publishing("agt_ABABAB", &[]));
    assert_eq!(failure.details["candidates"], json!(agents[..10]), "the first ten in order");
    let given = ["field", "reference"].map(|detail| &failure.details[detail]);
    assert_eq!(given, ["agent_id", "agt_ababab"]);
    assert_eq!(failure.next, [], "whoever gave it is registered; more digits help");
    assert!(failure.message.contains("agt_ababab") && failure.message.contains(&agents[9]), "{failure}");
    let published = library.publish(&agents[11], &[]);
    assert_eq!(published["intent"]["agent_id"], json!(agents[11]), "a whole id is never ambiguous");
}

/// Every page of a list from its first to its last, with what was said about the rest.
fn pages(cli: &Cli, words: &[&str], size: &str) -> Vec<Value> {
    let mut pages = Vec::new();
    let mut cursor = None::<String>;
    loop {
        let more = cursor.iter().flat_map(|cursor| ["--cursor", cursor]);
        let page = cli.envelope(words.iter().copied().chain(["--limit", size]).chain(more));
        cursor = page["page"]["next"].as_str().map(str::to_owned);
        pages.push(page);
        if cursor.is_none() {
            return pages;
        }
    }
}

#[test]
fn pages_hold_every_item_once_in_order_and_say_how_many_there_are() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let agents =
        [vec![one.clone(), other.clone()], ["3", "4", "5"].map(|name| cli.agent(name)).to_vec()].concat();
    cli.publish(&one, &["symbol:a=modify", "symbol:b=modify", "symbol:c=modify"]);
    let mut conflicts = Vec::new();
    for key in ["symbol:a=modify", "symbol:b=replace", "symbol:c=modify"] {
        conflicts.insert(0, text(&cli.publish(&other, &[key])["conflicts"][0]["id"]));
    }
    for (words, expected, size) in [
        (&["agent", "list"][..], agents, 2),
        (&["conflicts", "list"], conflicts.clone(), 1),
        (&["conflicts", "list", "--status", "open"], conflicts, 2),
    ] {
        let pages = pages(&cli, words, &size.to_string());
        assert_eq!(pages.len(), expected.len().div_ceil(size), "{words:?}");
        let ids =
            pages.iter().flat_map(|page| page["data"].as_array().unwrap()).map(|item| text(&item["id"]));
        assert_eq!(ids.collect::<Vec<_>>(), expected, "{words:?}");
        for page in &pages {
            assert_eq!(page["page"]["total"], json!(expected.len()), "{words:?}: every page says so");
        }
        assert!(pages.last().unwrap()["page"].get("next").is_none(), "{words:?}");
        let whole = cli.envelope(words);
        assert!(whole.get("page").is_none(), "{words:?} is complete: {whole}");
        let shown = cli.shown([words, &["--limit", "1"]].concat());
        assert!(shown.contains(&format!("1 of {} shown; the rest: --cursor ", expected.len())), "{shown}");
    }
}

#[test]
fn pages_hold_what_one_call_found_once_and_merge_every_status() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let scopes = ["a", "b", "c", "d", "e"].map(|key| format!("symbol:{key}=modify"));
    let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
    cli.publish(&one, &scopes);
    let intent = text(&cli.publish(&other, &scopes)["intent"]["id"]);
    let amend = ["intent", "amend", &intent, "--agent", &other, "--scope", scopes[1], "--scope", scopes[3]];
    assert_eq!(cli.data(amend)["dismissed"].as_array().unwrap().len(), 3);
    let listed = cli.data(["conflicts", "list"]);
    let all: Vec<_> = listed.as_array().unwrap().iter().map(|conflict| text(&conflict["id"])).collect();
    for (words, expected) in [
        (&["conflicts", "list"][..], 5),
        (&["conflicts", "list", "--status", "open"], 2),
        (&["conflicts", "list", "--status", "dismissed"], 3),
    ] {
        let ids: Vec<_> = pages(&cli, words, "1").iter().map(|page| text(&page["data"][0]["id"])).collect();
        let kept: Vec<_> = all.iter().filter(|id| ids.contains(id)).cloned().collect();
        assert_eq!((ids.len(), &ids), (expected, &kept), "{words:?}: in the order of all");
    }
}

#[test]
fn an_id_that_only_begins_as_that_of_a_conflict_names_nothing() {
    let library = Library::new();
    let agents = ["one", "other"].map(|name| library.agent(name));
    library.publish(&agents[0], &["symbol:X=replace"]);
    let conflict = text(&library.publish(&agents[1], &["symbol:X=extend"])["conflicts"][0]["id"]);
    for digits in [8, 9, 16, 32] {
        let (kept, last) = (&conflict[..3 + digits], &conflict[3 + digits..4 + digits]);
        // The last digit alone is another: the least change there is.
        let other = u8::from_str_radix(last, 16).unwrap() ^ 1;
        let input = json!({ "id": format!("{kept}{other:x}") });
        library.refusal(Code::NotFound, "get_conflict", input);
    }
}

#[test]
fn a_cursor_that_no_page_gave_is_refused_and_limits_are_clamped() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    cli.agent("a");
    cli.agent("b");
    for list in ["agent", "conflicts"] {
        for bad in ["", "x", "1-", "1-zz", "-1", "\u{1b}[31m"] {
            let message = cli.refusal("INVALID_INPUT", [list, "list", &format!("--cursor={bad}")]);
            assert!(message.contains("--cursor"), "{message}");
        }
    }
    for (limit, expected) in [("0", 1), ("1", 1), ("501", 2), ("99999999999", 2)] {
        assert_eq!(
            cli.data(["agent", "list", "--limit", limit]).as_array().unwrap().len(),
            expected,
            "{limit}"
        );
        assert_eq!(
            cli.data(["events", "list", "--limit", limit]).as_array().unwrap().len(),
            expected,
            "{limit}"
        );
    }
}

#[test]
fn conflicts_are_listed_by_status_in_any_case_and_an_unknown_one_is_refused() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    cli.publish(&one, &["symbol:a=modify"]);
    cli.publish(&other, &["symbol:a=modify"]);
    for (status, count) in [("OPEN", 1), ("open", 1), ("Open", 1), ("resolved", 0), ("COORDINATING", 0)] {
        let found = cli.data(["conflicts", "list", "--status", status]);
        assert_eq!(found.as_array().unwrap().len(), count, "{status}");
    }
    let message = cli.refusal("INVALID_INPUT", ["conflicts", "list", "--status", "closed"]);
    for word in ["`closed`", "OPEN", "COORDINATING", "RESOLVED", "OVERRIDDEN", "DISMISSED"] {
        assert!(message.contains(word), "{message}");
    }
}
