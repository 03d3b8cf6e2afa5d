//! The real binary, run without anybody's environment, and its answers taken apart.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use foremerge::failure::Code;
use serde_json::Value;

use crate::library::says_what_is_accepted;
use crate::sandbox::scrubbed;

/// A shell somewhere, with its environment.
#[derive(Clone)]
pub struct Cli {
    directory: PathBuf,
    variables: Vec<(String, OsString)>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

pub fn at(directory: impl Into<PathBuf>) -> Cli {
    Cli { directory: directory.into(), variables: Vec::new() }
}

/// A shell in `directory`, where the ledger was made.
pub fn initialized(directory: impl Into<PathBuf>) -> Cli {
    let cli = at(directory);
    cli.data(["init"]);
    cli
}

impl Cli {
    pub fn with(&self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let mut cli = self.clone();
        cli.variables.push((name.to_owned(), value.as_ref().to_owned()));
        cli
    }

    pub fn run<A: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = A>) -> Ran {
        let mut command = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
        for name in [
            "FOREMERGE_AGENT",
            "FOREMERGE_DB",
            "COLUMNS",
            "NO_COLOR",
            "CLICOLOR",
            "CLICOLOR_FORCE",
            "XDG_CONFIG_HOME",
        ] {
            command.env_remove(name);
        }
        command.env("HOME", "/nonexistent").current_dir(&self.directory).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.args(words.into_iter().map(|word| word.as_ref().to_owned()));
        let Output { status, stdout, stderr } = command.output().unwrap();
        Ran {
            status: status.code().expect("it ended by itself"),
            stdout: String::from_utf8(stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(stderr).expect("stderr is UTF-8"),
        }
    }

    /// Runs it for a person; it must succeed and complain about nothing.
    pub fn shown<A: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = A>) -> String {
        let ran = self.run(words);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        ran.stdout
    }

    /// The whole success envelope.
    pub fn envelope<A: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = A>) -> Value {
        let words = words.into_iter().map(|word| word.as_ref().to_owned());
        let ran = self.run([OsString::from("--json")].into_iter().chain(words));
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
        let envelope = ran.envelope();
        assert_eq!(envelope["ok"], true, "{envelope}");
        envelope
    }

    /// The data of a call that must succeed.
    pub fn data<A: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = A>) -> Value {
        self.envelope(words)["data"].take()
    }

    /// A call that must be refused with `code`, in JSON as for a person. Answers the error.
    pub fn refused<A: AsRef<OsStr>>(&self, code: &str, words: impl IntoIterator<Item = A>) -> Value {
        let words: Vec<_> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        let expected = Code::ALL.iter().find(|known| known.as_str() == code).expect("a known code");
        let expected = i32::from(expected.exit().status());
        let plain = self.run(&words);
        assert_eq!((plain.status, plain.stdout.as_str()), (expected, ""), "{words:?}: {}", plain.stderr);
        assert!(!plain.stderr.trim().is_empty(), "{words:?} failed without a word");
        let json = self.run([OsString::from("--json")].iter().chain(&words));
        assert_eq!((json.status, json.stderr.as_str()), (expected, ""), "{words:?}: {}", json.stdout);
        let envelope = json.envelope();
        assert_eq!(envelope["ok"], false, "{envelope}");
        assert_eq!(envelope["error"]["code"], code, "{words:?}: {envelope}");
        assert!(envelope["error"]["message"].as_str().is_some_and(|message| !message.is_empty()));
        assert!(envelope.get("data").is_none(), "{envelope}");
        says_what_is_accepted(code, &envelope["error"]["details"]);
        envelope["error"].clone()
    }

    pub fn refusal<A: AsRef<OsStr>>(&self, code: &str, words: impl IntoIterator<Item = A>) -> String {
        self.refused(code, words)["message"].as_str().unwrap().to_owned()
    }

    /// Registers an agent and answers its id.
    pub fn agent(&self, name: &str) -> String {
        text(&self.data(["agent", "register", "--name", name])["id"])
    }

    pub fn publish(&self, agent: &str, scopes: &[&str]) -> Value {
        self.data(publishing(agent, scopes))
    }

    pub fn last_seq(&self) -> u64 {
        self.data(["status"])["as_of_event"].as_u64().unwrap()
    }

    /// `refused`, and nothing was recorded by it.
    pub fn refused_without_trace(&self, words: &[&str]) -> String {
        let before = self.last_seq();
        let message = self.refusal("INVALID_INPUT", words);
        assert_eq!(self.last_seq(), before, "{words:?}");
        message
    }
}

impl Ran {
    /// What was printed as JSON: one line.
    pub fn envelope(&self) -> Value {
        let line = self.stdout.strip_suffix('\n').expect("a line");
        assert!(!line.contains('\n'), "more than one line: {line}");
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}

pub fn publishing<'a>(agent: &'a str, scopes: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["intent", "publish", "--agent", agent, "--task", "t", "--summary", "s"];
    words.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
    words
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

/// The strings of a list.
pub fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}")).iter().map(text).collect()
}

pub fn string(path: &Path) -> &str {
    path.to_str().unwrap()
}
