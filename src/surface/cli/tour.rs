//! The story the demonstration tells, by typing real commands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::grammar::{self, Chosen};
use super::operate;
use super::output::Output;
use crate::failure::{Code, Failure};
use crate::operations::answer::AnyAnswer;
use crate::world::World;

/// A narrator who types commands and shows what they answer.
pub(super) struct Tour<'o> {
    world: Arc<dyn World>,
    output: &'o Output,
    root: PathBuf,
}

/// Two agents, one of which replaces what the other extends.
pub(super) fn tell(tour: &Tour<'_>, shop: &Path, stripe: &Path, paypal: &Path) -> Result<(), Failure> {
    tour.say(
        "A shop takes payments through PaymentService. Two agents work on it, each in its own worktree.",
    );
    tour.step(shop, &["init"])?;

    let first = tour.step(stripe, &["agent", "register", "--name", "stripe-agent"])?;
    let second = tour.step(paypal, &["agent", "register", "--name", "paypal-agent"])?;

    tour.say("The first agent says what it is about to do. Nobody is in the way.");
    let agent = id(&first, "id")?;
    tour.step(
        stripe,
        &[
            "intent",
            "publish",
            "--agent",
            &agent,
            "--task",
            "payments-provider",
            "--summary",
            "Replace PaymentService with StripePaymentService",
            "--scope",
            "symbol:PaymentService=replace",
            "--scope",
            "file:src/payments.py=modify",
        ],
    )?;

    tour.say("The second agent plans to build on the very class that is about to go. It hears so before it writes a line.");
    let agent = id(&second, "id")?;
    let published = tour.step(
        paypal,
        &[
            "intent",
            "publish",
            "--agent",
            &agent,
            "--task",
            "paypal-payments",
            "--summary",
            "Extend PaymentService with PayPal support",
            "--scope",
            "symbol:PaymentService=extend",
            "--scope",
            "api:POST /payments=add",
        ],
    )?;

    tour.say("Git would have said nothing: the two would have edited different files. Why it matters:");
    let conflict = published["conflicts"][0]["id"].as_str().unwrap_or_default().to_owned();
    if conflict.is_empty() {
        return Err(Failure::new(Code::InternalError, "the demonstration found no conflict"));
    }
    tour.step(paypal, &["conflicts", "show", &conflict])?;

    tour.say("Every step is on record, and the record can be proven.");
    tour.step(shop, &["events", "audit"])?;
    tour.say("This is where everybody stands:");
    tour.step(shop, &["status"])?;
    Ok(())
}

fn id(answer: &Value, field: &str) -> Result<String, Failure> {
    let id = answer[field].as_str().map(str::to_owned);
    id.ok_or_else(|| Failure::new(Code::InternalError, format!("the answer has no {field}")))
}

impl<'o> Tour<'o> {
    pub(super) fn new(world: Arc<dyn World>, output: &'o Output, root: PathBuf) -> Self {
        Self { world, output, root }
    }

    /// A sentence of the narrator.
    pub(super) fn say(&self, sentence: &str) {
        let mut screen = self.output.screen();
        screen.line(sentence);
        screen.gap();
        self.output.tell(screen);
    }

    /// Types a command in a directory, shows what it answers, and returns its data.
    fn step(&self, directory: &Path, words: &[&str]) -> Result<Value, Failure> {
        let mut screen = self.output.screen();
        let place = directory.strip_prefix(&self.root).unwrap_or(directory);
        screen.line(format!("{} $ foremerge {}", place.display(), shell(words)));
        self.output.tell(screen);

        let answer = self.run(directory, words)?;
        let data = answer.to_json()?;
        if self.output.is_json() {
            self.output.answer(&*answer);
        } else {
            let mut screen = self.output.screen();
            answer.render(&mut screen);
            screen.gap();
            self.output.tell(screen);
        }
        Ok(data)
    }

    fn run(&self, directory: &Path, words: &[&str]) -> Result<Box<dyn AnyAnswer>, Failure> {
        let typed = ["foremerge".into(), "--cwd".into(), directory.as_os_str().to_owned()];
        let typed = typed.into_iter().chain(words.iter().map(Into::into));
        // The demonstration is about its own repository, whatever the environment says.
        let command = grammar::command(&*self.world).mut_args(|argument| argument.env(None::<&str>));
        let matches = command
            .try_get_matches_from(typed)
            .map_err(|error| Failure::new(Code::InternalError, error.to_string()))?;
        match grammar::chosen(&matches) {
            Chosen::Operation(entry, arguments) => {
                operate(entry, arguments, &matches, Arc::clone(&self.world))
            }
            Chosen::Demo(_) => Err(Failure::new(Code::InternalError, "the demonstration shows itself")),
        }
    }
}

/// The words as a shell would take them.
pub(super) fn shell(words: &[&str]) -> String {
    let quoted = words.iter().map(|word| {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=:./".contains(c));
        if plain { (*word).to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
