//! Every statement of the ledger, read off its source and explained by SQLite on a real file:
//! what runs on every call must find its rows through an index, however long the history is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use foremerge::ledger::{Place, create};
use foremerge::world::{Fake, World};

/// Statements that may read a whole table, by how they begin, and why.
const MAY_SCAN: &[(&str, &str)] = &[
    ("SELECT seq, event_hash FROM event ORDER BY seq DESC LIMIT 1", "the last row"),
    ("SELECT repository FROM identity", "one row"),
    ("SELECT coalesce(max(last_lamport), 0) FROM replica", "one row per clone"),
    ("SELECT uid, last_number FROM replica", "one row per clone"),
    ("SELECT id, uid, last_number, last_lamport, last_hash FROM replica WHERE own", "one row per clone"),
    ("SELECT uid FROM replica WHERE own", "one row per clone"),
    ("SELECT count(*) FROM replica", "one row per clone"),
    (
        "SELECT id, uid, own, last_number, last_lamport, last_hash FROM replica",
        "one row per clone, in an audit",
    ),
    ("SELECT application_id, user_version FROM pragma", "one row"),
    ("SELECT page_count, page_size FROM pragma", "one row"),
    ("SELECT sql, name FROM sqlite_schema", "the schema itself"),
    ("SELECT count(*) FROM agent", "a count of all"),
    ("SELECT count(*) FROM intent WHERE :status IS NULL", "a count of all, through the smallest index"),
    ("SELECT count(*) FROM intent", "a count of all, through an index"),
    ("SELECT count(*) FROM conflict", "a count of all, through the smallest index"),
    (
        "SELECT coalesce(sum(waiting), 0) FROM (SELECT recipient",
        "a count of all, through an index of just those",
    ),
    ("INSERT INTO pair_earlier (intent, pair) SELECT", "a block, as the next begins"),
    ("SELECT EXISTS (SELECT 1 FROM event WHERE seq < 1)", "in an audit"),
    ("SELECT EXISTS (SELECT 1 FROM claim WHERE intent", "a constant, and a search in it"),
    ("SELECT EXISTS (SELECT 1 FROM scope JOIN intent_scope", "a constant, and a search in it"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ledger")
}

fn sources() -> Vec<PathBuf> {
    let mut open = vec![root()];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("replay.rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// String literals of a file outside its tests, with line continuations joined.
fn literals(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n").replace("\\\"", "'").replace("'\"'", "");
    code.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The statement with every `{NAME}` replaced by the literal that is called so in the file.
fn filled(statement: &str, text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut filled = statement.to_owned();
    for _ in 0..16 {
        let Some((before, rest)) = filled.split_once('{') else { return Some(filled) };
        let (name, after) = rest.split_once('}')?;
        let value = [format!("{name}: &str = "), format!("let {name} = "), format!("{name}: u32 = ")]
            .iter()
            .find_map(|opening| text.split_once(opening.as_str()))?
            .1;
        let value = match value.strip_prefix('"') {
            Some(literal) => literal.split('"').next()?,
            None => value.split(';').next()?,
        };
        filled = format!("{before}{value}{after}");
    }
    None
}

/// The statement once for each constant that a `match` may put into it.
fn chosen(statement: &str, text: &str) -> Vec<String> {
    let names = statement.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    for (name, _) in names {
        let Some((_, choice)) = text.split_once(&format!("let {name} = match ")) else { continue };
        let arms = choice.split_once("};").unwrap().0.split("=> ").skip(1);
        let constants = arms.map(|arm| arm.split(',').next().unwrap());
        return constants.map(|constant| statement.replace(name, constant)).collect();
    }
    vec![statement.to_owned()]
}

#[test]
fn every_statement_of_the_ledger_finds_its_rows_through_an_index() {
    let directory = tempfile::tempdir().unwrap();
    let world: Arc<dyn World> = Arc::new(Fake::new(1));
    let place = create(&Place::in_directory(directory.path().join("ledger")), &*world).unwrap().place;
    let connection = rusqlite::Connection::open(place.file()).unwrap();
    // As the ledger's own connections are: a plan does not depend on what is bound.
    connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
    let shared_words =
        ["blocks.rs", "read/identity.rs"].map(|file| std::fs::read_to_string(root().join(file)).unwrap());
    let shared_words = shared_words.concat();
    let (mut explained, mut faults) = (0, Vec::new());
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        // Conditions are named where they are used, and put behind the beginning for each table.
        let with_tables = literals(&text).into_iter().flat_map(|literal| {
            if literal.starts_with("kind ") {
                let tables = ["active_scope WHERE", "claim WHERE status = 1 AND"];
                tables.map(|table| format!("SELECT id FROM {table} {literal}")).to_vec()
            } else {
                chosen(&literal, &text)
            }
        });
        for literal in with_tables {
            let begins = literal.trim_start();
            if !["SELECT ", "{SELECT} ", "INSERT ", "UPDATE ", "DELETE "]
                .iter()
                .any(|verb| begins.starts_with(verb))
            {
                continue;
            }
            // A beginning that statements share is explained as part of them.
            let shared = ["const SELECT: &str =", "select:"].map(|name| format!("{name} \"{literal}\""));
            let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_fragment = shared.iter().any(|opening| flat(&text).contains(&flat(opening)));
            let filled = filled(&literal, &format!("{text}\n{shared_words}"));
            let Some(statement) = filled.filter(|_| !is_fragment) else {
                assert!(is_fragment, "{}: a part of it is not found: {literal}", path.display());
                continue;
            };
            if statement.contains(';') {
                continue; // a script, not a statement that is kept prepared
            }
            let mut explain = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {statement}"))
                .unwrap_or_else(|error| panic!("{}: {error}: {statement}", path.display()));
            let nothing = vec![rusqlite::types::Null; explain.parameter_count()];
            let plan: Vec<String> = explain
                .query_map(rusqlite::params_from_iter(nothing), |row| row.get(3))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            explained += 1;
            let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
            let times = |wanted: String| plan.iter().filter(|step| **step == wanted).count();
            let scans = plan.iter().any(|step| {
                // Rows that a part of the statement has found are no table.
                if let Some(name) = step.strip_prefix("SCAN ")
                    && times(format!("CO-ROUTINE {name}")) + times(format!("MATERIALIZE {name}"))
                        >= times(step.clone())
                {
                    return false;
                }
                // Nor is what the caller gave; and an index read in order up to a LIMIT is a page.
                let found = ["SCAN (subquery", "SCAN json_each "].iter().any(|part| step.starts_with(part));
                let page = step.contains("USING") && statement.contains("LIMIT");
                step.starts_with("SCAN") && !found && !page
            });
            if scans && !MAY_SCAN.iter().any(|(beginning, _)| statement.starts_with(beginning)) {
                faults.push(format!("{}\n  {statement}\n  {}", path.display(), plan.join("\n  ")));
            }
        }
    }
    assert!(explained > 40, "only {explained} statements were found: has the way they are written changed?");
    assert!(faults.is_empty(), "read whole tables:\n{}", faults.join("\n"));
}
