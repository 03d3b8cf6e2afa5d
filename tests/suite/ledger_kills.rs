//! kill -9 at any moment. When exactly is left to chance, the sequence of delays is not.
#![expect(clippy::disallowed_methods, reason = "a test kills real processes and times them")]

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::workplace::{Workplace, cli, foremerge, replicas, sound};

/// Chance that is the same every time (`SplitMix64`).
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % limit
    }
}

fn register(name: &str) -> [&str; 5] {
    ["agent", "register", "--no-worktree", "--name", name]
}

/// The id in an answer that reached its reader completely.
fn acknowledged(output: &[u8]) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_slice(output).ok()?;
    let data = &answer["data"];
    let id = data["id"].as_str().or_else(|| data["intent"]["id"].as_str());
    id.map(str::to_owned)
}

fn kills(rounds: u64, seed: u64) {
    let workplace = Workplace::new();
    let at = &workplace.repository;
    let started = Instant::now();
    let agent = acknowledged(cli(at, &register("owner")).envelope.to_string().as_bytes()).unwrap();
    let usual = u64::try_from(started.elapsed().as_micros()).unwrap();
    let mut chance = Chance(seed);
    let (mut known, mut killed) = (vec![agent.clone()], 0);
    for round in 0..rounds {
        let name = format!("round-{round}");
        let publish = [
            "intent",
            "publish",
            "--agent",
            &agent,
            "--task",
            "t",
            "--summary",
            &name,
            "--scope",
            "symbol:PaymentService=replace",
        ];
        let register = register(&name);
        let spawn = |arguments: &[&str]| -> Child {
            let mut command = foremerge(at, arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
        };
        // Two at a time, so that one is killed while the other waits, reads or writes.
        let mut children = [spawn(&register), spawn(&publish)];
        for child in &mut children {
            std::thread::sleep(Duration::from_micros(chance.below(usual)));
            child.kill().unwrap();
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            killed += u64::from(!output.status.success());
            known.extend(acknowledged(&output.stdout));
        }
        // Looking changes nothing, so every few rounds will do.
        if round % 5 == 4 {
            assert_eq!(replicas(&sound(at, &known)).len(), 1);
        }
        cli(at, &["status"]).succeeded();
    }
    known.extend(acknowledged(cli(at, &register("last")).envelope.to_string().as_bytes()));
    let events = sound(at, &known);
    eprintln!("{killed} of {} processes died, {} writes were acknowledged", rounds * 2, known.len());
    assert!(killed > 0 && events.len() >= known.len());
}

#[test]
fn fifteen_kills_lose_nothing_that_was_acknowledged() {
    kills(15, 1);
}

#[test]
#[ignore = "deep: 200 kills"]
fn two_hundred_kills_lose_nothing_that_was_acknowledged() {
    kills(200, 2);
}
