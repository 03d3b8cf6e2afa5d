//! Many processes at once.

use std::collections::BTreeSet;

use serde_json::json;

use crate::cli::{self, publishing, text};
use crate::sandbox::Sandbox;

/// Runs all of `work` at the same time.
fn together<T: Send, F: FnOnce() -> T + Send>(work: impl IntoIterator<Item = F>) -> Vec<T> {
    std::thread::scope(|scope| {
        let running: Vec<_> = work.into_iter().map(|work| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn of_many_that_make_the_ledger_one_does_and_all_answer_from_it() {
    let sandbox = Sandbox::new();
    for round in 0..5 {
        let root = sandbox.repository(&round.to_string());
        let made = together((0..10).map(|_| || cli::at(&root).data(["init"])));
        let created = made.iter().filter(|answer| answer["created"] == true).count();
        assert_eq!(created, 1, "{made:?}");
        let entries = std::fs::read_dir(root.join(".git")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let ours: Vec<_> = names.filter(|name| name.starts_with("foremerge")).collect();
        assert_eq!(ours, ["foremerge"], "nothing is left of the others");
        cli::at(&root).agent("a");
    }
}

#[test]
fn of_agents_that_publish_at_once_each_pair_meets_exactly_once() {
    const AGENTS: usize = 8;
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let agents = together((0..AGENTS).map(|number| {
        let cli = &cli;
        move || cli.agent(&format!("agent {number}"))
    }));
    let found = together(agents.iter().map(|agent| {
        let cli = &cli;
        move || cli.data(publishing(agent, &["symbol:X=replace"]))["conflicts"].as_array().unwrap().len()
    }));
    let pairs = AGENTS * (AGENTS - 1) / 2;
    assert_eq!(found.iter().sum::<usize>(), pairs, "{found:?}");
    let conflicts = cli.data(["conflicts", "list"]);
    let met: BTreeSet<_> = conflicts
        .as_array()
        .unwrap()
        .iter()
        .map(|conflict| (text(&conflict["source_intent_id"]), text(&conflict["target_intent_id"])))
        .collect();
    assert_eq!((conflicts.as_array().unwrap().len(), met.len()), (pairs, pairs));
    let events = cli.data(["events", "list"]);
    let seqs: Vec<_> =
        events.as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert_eq!(cli.data(["events", "audit"])["valid"], json!(true));
}
