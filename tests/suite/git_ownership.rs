//! Another user's repository, and permissions: the same decisions as stock git. These need root, who alone can give
//! files away; without it they have nothing to test.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::probe;
use crate::sandbox::{Sandbox, append, git, git_command, scrubbed, write};

const OWNER: u32 = 65534;
const THIRD: u32 = 65533;

struct Owned {
    sandbox: Sandbox,
    home: PathBuf,
    program: PathBuf,
}

/// Whose process looks, and with which `SUDO_UID`.
#[derive(Clone, Copy, Debug)]
struct Looker {
    user: u32,
    sudo: Option<u32>,
}

const ROOT: Looker = Looker { user: 0, sudo: None };

impl Owned {
    fn new() -> Option<Self> {
        let sandbox = Sandbox::new();
        if std::fs::metadata(&sandbox.root).unwrap().uid() != 0 {
            eprintln!("not root: nothing to test");
            return None;
        }
        sandbox.open_to_everyone();
        let home = sandbox.mkdir("home");
        let program = sandbox.path("probe");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        Some(Self { sandbox, home, program })
    }

    fn give_away(path: &Path) {
        if path.is_dir() && !path.is_symlink() {
            for entry in std::fs::read_dir(path).unwrap() {
                Self::give_away(&entry.unwrap().path());
            }
        }
        chown(path, Some(OWNER), Some(OWNER)).unwrap();
    }

    fn prepare(&self, command: &mut Command, looker: Looker) {
        // So that a relative safe.directory would name something.
        command.current_dir(&self.sandbox.root);
        command.env("HOME", &self.home).env("XDG_CONFIG_HOME", self.home.join("xdg")).env_remove("SUDO_UID");
        if let Some(sudo) = looker.sudo {
            command.env("SUDO_UID", sudo.to_string());
        }
        if looker.user != 0 {
            command.uid(looker.user).gid(looker.user);
        }
    }

    fn ours(&self, dir: &Path, looker: Looker) -> String {
        probe::elsewhere(&self.program, dir, |command| self.prepare(command, looker))
    }

    fn git(&self, dir: &Path, looker: Looker) -> bool {
        let mut command = git_command(dir, &["rev-parse", "--git-dir"]);
        command.env_remove("GIT_CONFIG_GLOBAL");
        self.prepare(&mut command, looker);
        command.output().unwrap().status.success()
    }

    /// Both must decide the same; the answer is ours.
    fn agree(&self, dir: &Path, looker: Looker) -> (bool, String) {
        let answer = self.ours(dir, looker);
        let accepted = answer.starts_with("ok ");
        assert_eq!(accepted, self.git(dir, looker), "{looker:?} in {}: {answer}", dir.display());
        (accepted, answer)
    }
}

#[test]
fn another_users_repository_is_refused_with_the_command_that_trusts_it() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    Owned::give_away(&main);
    let (accepted, answer) = owned.agree(&main.join("src"), ROOT);
    assert!(!accepted);
    let remedy = format!("git config --global --add safe.directory {}", main.display());
    assert!(answer.starts_with("error Unreadable") && answer.contains(&remedy), "{answer}");
}

#[test]
fn safe_directory_is_weighed_as_git_weighs_it() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    Owned::give_away(&main);
    std::os::unix::fs::symlink(&main, owned.home.join("link")).unwrap();
    write(&owned.home.join("more"), &format!("[safe]\n\tdirectory = {}\n", main.display()));
    let (here, above) = (main.display().to_string(), owned.sandbox.root.display().to_string());
    let lines = [
        (format!("[safe]\n\tdirectory = {here}\n"), true),
        ("[safe]\n\tdirectory = *\n".into(), true),
        (format!("[safe]\n\tdirectory = {here}\n\tdirectory =\n"), false),
        (format!("[safe]\n\tdirectory =\n\tdirectory = {here}\n"), true),
        (format!("[safe]\n\tdirectory = {above}\n"), false),
        (format!("[safe]\n\tdirectory = {above}/*\n"), true),
        (format!("[safe]\n\tdirectory = {here}/src\n"), false),
        (format!("[safe]\n\tdirectory = {here}/.git\n"), false),
        ("[safe]\n\tdirectory = ~/link\n".into(), true),
        ("[safe]\n\tdirectory = main\n".into(), false),
        (format!("[safe]\n\tdirectory = {here}/*\n"), false),
        (format!("[safe]\n\tdirectory = /nowhere\n\tdirectory = {here}/../main/\n"), true),
        ("[include]\n\tpath = more\n".into(), true),
        ("[core]\n\tabbrev = 9\n".into(), false),
    ];
    for (text, expected) in lines {
        write(&owned.home.join(".gitconfig"), &text);
        let (accepted, answer) = owned.agree(&main.join("src"), ROOT);
        assert_eq!(accepted, expected, "{text}{answer}");
    }
    write(&owned.home.join(".gitconfig"), "");
    std::fs::create_dir_all(owned.home.join("xdg/git")).unwrap();
    write(&owned.home.join("xdg/git/config"), "[safe]\n\tdirectory = *\n");
    assert!(owned.agree(&main, ROOT).0, "the second place of the user's configuration");
}

#[test]
fn inside_a_git_directory_it_is_that_directory_that_must_be_safe() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    Owned::give_away(&main);
    for (safe, expected) in [(main.clone(), false), (main.join(".git"), true)] {
        write(&owned.home.join(".gitconfig"), &format!("[safe]\n\tdirectory = {}\n", safe.display()));
        assert_eq!(owned.agree(&main.join(".git/hooks"), ROOT).0, expected);
        assert_eq!(owned.agree(&main, ROOT).0, !expected);
    }
}

#[test]
fn the_configuration_of_a_repository_declared_safe_counts_in_full() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    let other = owned.sandbox.mkdir("other");
    git(&main, &["config", "core.worktree", "../../other"]);
    Owned::give_away(&main);
    write(&owned.home.join(".gitconfig"), &format!("[safe]\n\tdirectory = {}\n", main.display()));
    let (accepted, answer) = owned.agree(&main, ROOT);
    assert!(accepted && answer.contains(&format!("root=Some({other:?})")), "{answer}");
}

#[test]
fn a_repository_cannot_declare_itself_safe() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    append(&main.join(".git/config"), "[safe]\n\tdirectory = *\n");
    Owned::give_away(&main);
    assert!(!owned.agree(&main, ROOT).0);
}

#[test]
fn each_part_of_a_repository_counts_as_it_counts_for_git() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../linked"]);
    git(&owned.sandbox.root, &["clone", "-q", "--bare", "main", "bare.git"]);
    let (linked, bare) = (owned.sandbox.path("linked"), owned.sandbox.path("bare.git"));
    let mut refusals = 0;
    for part in [
        main.clone(),
        main.join(".git"),
        main.join(".git/config"),
        main.join(".git/worktrees/linked"),
        linked.clone(),
        linked.join(".git"),
        bare.clone(),
    ] {
        chown(&part, Some(OWNER), None).unwrap();
        for dir in [&main, &linked, &bare] {
            refusals += usize::from(!owned.agree(dir, ROOT).0);
        }
        chown(&part, Some(0), None).unwrap();
    }
    assert_eq!(refusals, 6);
}

#[test]
fn the_filter_of_another_users_submodule_of_ours_runs_only_once_it_is_declared_safe() {
    let Some(owned) = Owned::new() else { return };
    let root = owned.sandbox.repository("r");
    let nested = owned.sandbox.repository("r/nested");
    let mark = owned.sandbox.path("ran");
    write(&nested.join(".gitattributes"), "*.rs filter=mark\n");
    git(&nested, &["add", "."]);
    git(&nested, &["commit", "-q", "-m", "attributes"]);
    git(&nested, &["config", "filter.mark.clean", &format!("touch '{}'; cat", mark.display())]);
    git(&root, &["add", "nested"]);
    append(&nested.join("src/deep/a.rs"), "changed\n");
    Owned::give_away(&nested);
    let look = || probe::snapshot_elsewhere(&owned.program, &root, |command| owned.prepare(command, ROOT));
    let closed = look();
    assert!(closed.starts_with("Ok"), "{closed}");
    assert!(!mark.exists());
    let declared = format!("[safe]\n\tdirectory = {}\n", nested.display());
    write(&owned.home.join(".gitconfig"), &declared);
    let looked_into = look();
    assert!(looked_into.starts_with("Ok") && looked_into != closed, "{looked_into}");
    assert!(mark.exists(), "as git does");
}

#[test]
fn the_owner_of_a_configured_worktree_does_not_count() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    let other = owned.sandbox.mkdir("other");
    git(&main, &["config", "core.worktree", "../../other"]);
    Owned::give_away(&other);
    let (accepted, answer) = owned.agree(&main, ROOT);
    assert!(accepted && answer.contains(&format!("root=Some({other:?})")), "{answer}");
}

#[test]
fn a_damaged_user_configuration_is_an_error_as_it_is_for_git() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    write(&owned.home.join(".gitconfig"), "[core\n");
    let (accepted, answer) = owned.agree(&main, ROOT);
    assert!(!accepted && answer.starts_with("error Unreadable"), "{answer}");
    assert!(answer.contains("your Git configuration"), "{answer}");
}

#[test]
fn the_search_stops_at_a_mount_point() {
    let Some(mut owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    let inner = owned.sandbox.mkdir("main/inner");
    if !scrubbed("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success()) {
        eprintln!("may not mount: nothing to test");
        return;
    }
    let mounted = |program: &Path| {
        let script = format!(
            "#!/bin/sh\nmount -t tmpfs none '{}' && exec '{}' \"$@\"\n",
            inner.display(),
            program.display()
        );
        let path = owned.sandbox.path("mounted");
        write(&path, &script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let outer = owned.sandbox.path("unshared");
        write(&outer, &format!("#!/bin/sh\nexec unshare --mount '{}' \"$@\"\n", path.display()));
        std::fs::set_permissions(&outer, std::fs::Permissions::from_mode(0o755)).unwrap();
        outer
    };
    assert!(owned.ours(&inner, ROOT).starts_with("ok "));
    owned.program = mounted(&owned.program);
    let answer = owned.ours(&inner, ROOT);
    assert!(answer.starts_with("error NotARepository"), "{answer}");
    assert!(owned.ours(&main, ROOT).starts_with("ok "));
}

#[test]
fn sudo_uid_speaks_for_root_alone() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    Owned::give_away(&main);
    let lookers = [
        (Looker { user: 0, sudo: Some(OWNER) }, true),
        (Looker { user: 0, sudo: Some(THIRD) }, false),
        (Looker { user: OWNER, sudo: None }, true),
        (Looker { user: THIRD, sudo: None }, false),
        (Looker { user: THIRD, sudo: Some(OWNER) }, false),
    ];
    for (looker, expected) in lookers {
        assert_eq!(owned.agree(&main, looker).0, expected, "{looker:?}");
    }
}

#[test]
fn an_explicit_choice_against_bare_repositories_is_kept() {
    let Some(owned) = Owned::new() else { return };
    let main = owned.sandbox.repository("main");
    git(&owned.sandbox.root, &["clone", "-q", "--bare", "main", "bare.git"]);
    let bare = owned.sandbox.path("bare.git");
    git(&bare, &["worktree", "add", "-q", "../linked", "main"]);
    for (value, expected) in [("all", true), ("explicit", false)] {
        write(&owned.home.join(".gitconfig"), &format!("[safe]\n\tbareRepository = {value}\n"));
        assert_eq!(owned.agree(&bare, ROOT).0, expected);
        for dir in [main.join(".git"), main.clone(), owned.sandbox.path("linked")] {
            assert!(owned.agree(&dir, ROOT).0, "{}", dir.display());
        }
    }
}

#[test]
fn what_may_not_be_read_is_an_error_and_not_an_absent_repository() {
    let Some(owned) = Owned::new() else { return };
    owned.sandbox.repository("outer");
    let inner = owned.sandbox.repository("outer/inner");
    write(&owned.home.join(".gitconfig"), "[safe]\n\tdirectory = *\n");
    let looker = Looker { user: THIRD, sudo: None };
    assert!(owned.agree(&inner, looker).0);
    for (part, mode) in [(".git", 0o700), (".git/HEAD", 0o600), (".git/config", 0o600), ("", 0o700)] {
        let path = inner.join(part);
        let before = std::fs::metadata(&path).unwrap().permissions();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let answer = owned.ours(&inner, looker);
        assert!(answer.starts_with("error Unreadable"), "{part}: {answer}");
        std::fs::set_permissions(&path, before).unwrap();
    }
    std::fs::set_permissions(owned.home.join(".gitconfig"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let theirs = owned.sandbox.repository("theirs");
    chown(&theirs, Some(THIRD), None).unwrap();
    chown(theirs.join(".git"), Some(THIRD), None).unwrap();
    assert!(
        owned.agree(&theirs, looker).0,
        "an unreadable user configuration stops nobody in their own repository"
    );
}
