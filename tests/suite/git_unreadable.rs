//! What may not be read in a worktree: git warns and goes on, and so do we, but we name it. Where the tests run as root,
//! to whom nothing is closed, another user looks.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use foremerge::git::{Exclusions, Repository};

use crate::probe;
use crate::sandbox::{Sandbox, git, git_command, scrubbed, shell, write};

const USER: u32 = 65534;

/// A repository of a user to whom permissions mean something.
struct Place {
    sandbox: Sandbox,
    root: PathBuf,
    program: PathBuf,
    as_root: bool,
}

impl Place {
    /// With `t/a`, `b` and a `.gitignore` for `*.o` tracked.
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let as_root = std::fs::metadata(&sandbox.root).unwrap().uid() == 0;
        sandbox.open_to_everyone();
        sandbox.mkdir("home");
        let program = sandbox.path("probe");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let root = sandbox.repository("r");
        shell(
            &root,
            "mkdir t; echo a > t/a; echo b > b; echo '*.o' > .gitignore; git add .; git commit -qm t",
        );
        if as_root {
            give_away(&root);
        }
        let place = Self { sandbox, root, program, as_root };
        // Nothing has to be read that did not change, and permissions alone are no sign of it.
        place.run("git config core.trustCTime false; git add --refresh .");
        place.run("touch -d '1 hour ago' t/a b .gitignore src/deep/a.rs; git update-index -q --refresh");
        place
    }

    fn run(&self, script: &str) {
        let mut command = scrubbed("sh");
        command.args(["-ec", script]);
        self.prepare(&mut command);
        let output = command.current_dir(&self.root).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn prepare(&self, command: &mut Command) {
        let home = self.sandbox.path("home");
        command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join("xdg")).current_dir(&self.sandbox.root);
        if self.as_root {
            command.uid(USER).gid(USER);
        }
    }

    /// What the user is told after a script: the letters by git, and ours.
    fn after(&self, script: &str) -> (Vec<String>, Vec<String>) {
        self.run(script);
        let status =
            ["--no-optional-locks", "status", "--porcelain=v1", "--untracked-files=all", "--no-renames"];
        let mut command = git_command(&self.root, &status);
        self.prepare(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        (said, self.seen(""))
    }

    fn seen(&self, excluded: &str) -> Vec<String> {
        probe::seen_elsewhere(&self.program, &self.root, |command| {
            self.prepare(command);
            command.env(probe::EXCLUDED, excluded);
        })
    }

    /// The letters are git's, what is named as unreadable is that, and the fingerprint is answered.
    #[track_caller]
    fn agrees(&self, script: &str, unreadable: &[&str]) -> String {
        let (said, mut seen) = self.after(script);
        let fingerprint = seen.pop().unwrap();
        let named = unreadable.iter().map(|path| format!("unreadable {path}"));
        let others = |more: usize| if more == 0 { String::new() } else { format!(" and {more} more") };
        let problem = unreadable
            .first()
            .map(|first| format!("{first:?}{} may not be looked at", others(unreadable.len() - 1)));
        let dirty = format!("dirty Some({}) {problem:?}", said.len());
        let expected: Vec<_> = std::iter::once(dirty).chain(said).chain(named).collect();
        let mut sorted = seen.clone();
        sorted.sort();
        let mut in_order = expected.clone();
        in_order.sort();
        assert_eq!(sorted, in_order, "{script}: {fingerprint}");
        assert!(fingerprint.starts_with("fingerprint "), "{fingerprint}");
        fingerprint
    }
}

impl Drop for Place {
    /// Or whoever is not root cannot remove it.
    fn drop(&mut self) {
        let _ = scrubbed("chmod").args(["-R", "u+rwx"]).arg(&self.root).status();
    }
}

fn give_away(path: &Path) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
    chown(path, Some(USER), Some(USER)).unwrap();
}

#[test]
fn a_directory_that_may_not_be_read_is_no_change_but_named_and_part_of_the_fingerprint() {
    let place = Place::new();
    let clean = place.agrees("true", &[]);
    for mode in ["0", "111"] {
        let closed = place.agrees(&format!("mkdir data; echo x > data/x; chmod {mode} data"), &["data/"]);
        assert_ne!(closed, clean);
        let open = place.agrees("chmod 755 data", &[]);
        assert!(open != closed && open != clean);
        let deep =
            place.agrees(&format!("mkdir -p data/e; chmod {mode} data/e; touch new.o new"), &["data/e/"]);
        assert!(deep != open && deep != closed);
        assert_eq!(place.agrees("chmod 755 data/e; rm -r data new new.o", &[]), clean);
    }
    place.agrees("git init -q n; git -C n commit -q --allow-empty -m n; chmod 0 n", &["n/"]);
}

#[test]
fn an_ignored_directory_may_be_closed_and_an_exclusion_leaves_a_closed_one_out() {
    let place = Place::new();
    let clean = place.agrees("echo data/ >> .git/info/exclude", &[]);
    assert_eq!(place.agrees("mkdir data; chmod 0 data", &[]), clean);
    place.agrees("mkdir other; chmod 0 other", &["other/"]);
    let mut seen = place.seen("other/");
    let fingerprint = seen.pop().unwrap();
    assert_eq!(seen, ["dirty Some(0) Some(\"\\\"other/\\\" may not be looked at\")", "leftover other/"]);
    place.run("rm -r other");
    assert_eq!(place.seen("other/").pop().unwrap(), fingerprint);
}

#[test]
fn tracked_files_in_a_closed_directory_count_for_unchanged_as_to_git_and_are_named() {
    let place = Place::new();
    let clean = place.agrees("true", &[]);
    let closed = place.agrees("chmod 0 t", &["t/", "t/a"]);
    // May be entered, not listed: what is tracked is seen.
    let entered = place.agrees("chmod 111 t; echo more >> t/a", &["t/"]);
    // May be listed, not entered.
    let listed = place.agrees("chmod 444 t", &["t/a"]);
    let open = place.agrees("chmod 755 t", &[]);
    let all = [&clean, &closed, &entered, &listed, &open];
    assert!(all.iter().enumerate().all(|(at, one)| !all[..at].contains(one)), "{all:?}");
    place.agrees("git checkout -q t; git rm -q --cached t/a; chmod 0 t", &["t/"]);
}

#[test]
fn a_file_that_may_not_be_read_is_looked_at_only_if_it_seems_to_have_changed() {
    let place = Place::new();
    let clean = place.agrees("true", &[]);
    assert_eq!(place.agrees("chmod 0 b", &[]), clean);
    for script in
        ["touch b", "chmod 644 b; echo longer > b; chmod 0 b", "git checkout -q b; echo n > n; chmod 0 n"]
    {
        let (said, seen) = place.after(script);
        assert_eq!(said.len(), 1, "{said:?}");
        let name = &said[0][3..];
        assert_eq!(seen[0], "dirty Some(1) None");
        assert!(seen[1].starts_with("error ") && seen[1].contains(&format!("/r/{name}: ")), "{seen:?}");
    }
}

#[test]
fn rules_that_may_not_be_read_count_for_absent_as_to_git() {
    let place = Place::new();
    let clean = place.agrees("true", &[]);
    assert_eq!(place.agrees("chmod 0 .gitignore", &[]), clean);
    place.agrees("echo n > new.o; mkdir -p t/deep; echo n > t/deep/x.p; echo n > t/y.o", &[]);
    // The rules that can be read still count, in their order.
    place.agrees("printf '*.p\n!keep.p\n' > t/.gitignore; echo '*.q' >> .git/info/exclude", &[]);
    place.agrees("echo '!x.p' > t/deep/.gitignore; touch t/keep.p t/deep/z.p z.q", &[]);
    place.agrees("mkdir build; echo '*' > build/.gitignore; touch build/x", &[]);
    place.agrees(
        "mkdir -p out/in; echo 'out/' > .git/info/exclude; echo '!*' > out/.gitignore; touch out/in/x",
        &[],
    );
    place.agrees("git add -f out/in/x; touch out/y out/in/z; chmod 0 out/.gitignore", &[]);
    place.agrees(
        "mkdir closed; chmod 0 closed; git init -q n; echo '!*.o' > n/.gitignore; touch n/x.o",
        &["closed/"],
    );
    place.agrees("chmod 644 .gitignore; ln -s t/.gitignore src/.gitignore; touch src/x.p", &["closed/"]);
    let (said, seen) = place.after("chmod 0 t/deep/.gitignore");
    assert!(said.contains(&"?? t/deep/.gitignore".to_owned()), "{said:?}");
    assert!(seen[1].starts_with("error ") && seen[1].contains("t/deep/.gitignore: "), "{seen:?}");
    let seen = place.seen("t/deep/.gitignore");
    assert!(seen.contains(&"leftover t/deep/.gitignore".to_owned()), "{seen:?}");
}

#[test]
fn rules_that_match_whatever_stands_at_the_top_do_not_hide_the_top_from_the_slow_look() {
    let place = Place::new();
    // This is what makes the look slow, even where everything else is ignored.
    place.run(
        "echo '*.q' > t/.gitignore; git add .; git commit -qm rules; touch -d '1 hour ago' t/.gitignore",
    );
    place.run(
        "git update-index -q --refresh; chmod 0 t/.gitignore; echo n > new; echo n > t/new; echo n > t/n.q",
    );
    for (exclude, rules) in [
        ("*/", "*.o"),
        ("**/", "*.o"),
        ("/", "*.o"),
        ("", "*/"),
        ("", "/**/"),
        ("*", "!new\n!t/"),
        ("", "*\n!new\n!t/"),
        ("", "/**\n!new"),
    ] {
        place.agrees(
            &format!("printf '{exclude}\n' > .git/info/exclude; printf '{rules}\n' > .gitignore"),
            &[],
        );
    }
}

#[test]
fn rules_beside_a_git_directory_that_is_none_count_for_the_slow_look() {
    let place = Place::new();
    place.run("rm .gitignore; git commit -qam 'no rules'; mkdir closed; chmod 0 closed");
    for (number, dot_git) in
        ["mkdir .git", "echo junk > .git", "echo 'gitdir: ../nowhere' > .git", "git init -q ."]
            .iter()
            .enumerate()
    {
        // With and without something that is tracked.
        for tracked in ["true", &format!("git -C .. add n{number}/a; git -C .. commit -qm a")] {
            place.run(&format!(
                "mkdir -p n{number}; cd n{number}; echo '*.o' > .gitignore; touch k.o k a; {tracked}"
            ));
            place.agrees(&format!("cd n{number}; {dot_git}; touch l.o l"), &["closed/"]);
            place.run(&format!("rm -r n{number}/.git"));
        }
    }
}

#[test]
fn the_rules_of_a_directory_that_is_not_checked_out_count_for_the_slow_look() {
    let place = Place::new();
    place.run("mkdir -p out/deep; echo '*.q' > out/.gitignore; echo '!k.q' > out/deep/.gitignore");
    place.run("git add .; git commit -qm rules; git sparse-checkout set --no-cone --no-sparse-index /t /src");
    place.run("mkdir -p out/deep closed; touch out/n.q out/n out/deep/k.q out/deep/n.q; chmod 0 closed");
    place.agrees("true", &["closed/"]);
    place.agrees("echo '*.p' > out/.gitignore; touch out/n.p", &["closed/"]);
}

#[test]
fn attributes_that_may_not_be_read_are_those_of_the_index_as_to_git() {
    let place = Place::new();
    let script = r"
        printf '*.t text\n' > .gitattributes; mkdir d; printf '*.t -text\n' > d/.gitattributes
        printf 'a\nb\n' > one.t; printf 'a\nb\n' > d/two.t; printf 'a\nb\n' > d/three.u
        git add .; git commit -qm attributes
        touch -d '1 hour ago' .gitattributes d/.gitattributes; git update-index -q --refresh
        printf 'a\r\nb\n' > one.t; printf 'a\r\nb\n' > d/two.t; printf '*.u text\n' > e; touch d/three.u";
    let open = place.agrees(script, &[]);
    assert_eq!(place.agrees("chmod 0 .gitattributes; chmod 0 d/.gitattributes", &[]), open);
    // One that is not in the index counts for absent, and so do links.
    place.agrees(
        "mkdir u; echo '*.u eol=crlf' > u/.gitattributes; ln -s ../e d/e; ln -s ../e src/.gitattributes",
        &[],
    );
    let stored = place.agrees("git config core.autocrlf true; printf 'a\\nb\\n' > d/two.t", &[]);
    assert_ne!(stored, open);
}

#[test]
fn a_path_longer_than_the_system_takes_is_named_as_unreadable() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let name = "d".repeat(200);
    let step = format!("mkdir {name} && cd -P {name}");
    let deep = std::iter::repeat_n(step.as_str(), 25).collect::<Vec<_>>().join(" && ");
    shell(&root, &format!("{deep} && touch deepest"));
    let snapshot = Repository::discover(&root).unwrap().snapshot(b"", &Exclusions::default()).unwrap();
    assert_eq!(git(&root, &["status", "--porcelain=v1", "--untracked-files=all"]), "");
    assert!(!snapshot.is_dirty());
    let [named] = &snapshot.unreadable[..] else { panic!("{:?}", snapshot.unreadable) };
    assert!(named.starts_with(name.as_bytes()) && named.ends_with(b"d/"));
    assert_eq!(Repository::discover(&root).unwrap().worktrees().unwrap()[0].dirty, Some(0));
    write(&root.join("b"), "new");
    assert_eq!(Repository::discover(&root).unwrap().worktrees().unwrap()[0].dirty, Some(1));
    // As `rm -r` removes it: from where it stands.
    shell(&root, "rm -r d*");
}
