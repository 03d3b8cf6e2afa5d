//! Sentences as agents write them, and the operation a person reads in each for one scope:
//! fixtures/promises.

use std::path::Path;

use foremerge::detect::promise::operation;

#[test]
fn the_operation_read_from_a_sentence_is_the_one_a_person_reads() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/promises");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut all, mut wrong) = (0, Vec::new());
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "txt")) {
        let text = std::fs::read_to_string(file).unwrap();
        let (before, missed) = (all, wrong.len());
        for line in text.lines() {
            let [scope, summary, read] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (kind, key) = scope.split_once(':').unwrap();
            let found = operation(summary, kind.parse().unwrap(), key).to_string();
            all += 1;
            if found != read {
                wrong.push(format!("{line}, not {found}"));
            }
        }
        let name = file.file_name().unwrap().display();
        println!(
            "{name}: {} of {} as a person reads them",
            all - before - (wrong.len() - missed),
            all - before
        );
    }
    println!("{}", wrong.join("\n"));
    assert!(all >= 250 && wrong.len() * 20 <= all, "{} of {all} wrong", wrong.len());
}
