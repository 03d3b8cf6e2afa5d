//! The story the demonstration tells, by typing real commands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::grammar::{self, Chosen};
use super::operate;
use super::output::Output;
use crate::failure::{Code, Failure};
use crate::operations::answer::AnyAnswer;
use crate::operations::render::shell_word;
use crate::world::World;

/// A narrator who types commands and shows what they answer.
pub(super) struct Tour<'o> {
    world: Arc<dyn World>,
    output: &'o Output,
    root: PathBuf,
}

/// Two agents, one of which replaces what the other extends: they hear of it, talk, agree and begin.
pub(super) fn tell(tour: &Tour<'_>, shop: &Path, stripe: &Path, paypal: &Path) -> Result<(), Failure> {
    tour.say(
        "A shop takes payments through PaymentService. Two agents work on it, each in its own worktree.",
    );
    tour.step(shop, &["init"])?;
    let register = |at: &Path, name: &str| tour.step(at, &["agent", "register", "--name", name]);
    let stripe_agent = id(&register(stripe, "stripe-agent")?["id"])?;
    let paypal_agent = id(&register(paypal, "paypal-agent")?["id"])?;
    let parties =
        collide(tour, Side { at: stripe, agent: &stripe_agent }, Side { at: paypal, agent: &paypal_agent })?;
    agree(tour, &parties)?;
    begin(tour, &parties)?;

    tour.say("Every step is on record, and the record can be proven.");
    tour.step(shop, &["events", "audit"])?;
    tour.say("This is where everybody stands:");
    tour.step(shop, &["status"])?;
    Ok(())
}

/// An agent and where it works.
#[derive(Clone, Copy)]
struct Side<'s> {
    at: &'s Path,
    agent: &'s str,
}

/// Both sides, what they are about to do, and where that collides.
struct Parties<'s> {
    stripe: Side<'s>,
    paypal: Side<'s>,
    replacing: String,
    extending: String,
    conflict: String,
}

fn collide<'s>(tour: &Tour<'_>, stripe: Side<'s>, paypal: Side<'s>) -> Result<Parties<'s>, Failure> {
    let publish = |side: Side<'_>, task: &str, summary: &str, scopes: [&str; 2]| {
        let mut words =
            vec!["intent", "publish", "--agent", side.agent, "--task", task, "--summary", summary];
        words.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
        tour.step(side.at, &words)
    };
    tour.say("The first agent says what it is about to do. Nobody is in the way.");
    let first = publish(
        stripe,
        "payments-provider",
        "Replace PaymentService with StripePaymentService",
        ["symbol:PaymentService=replace", "file:src/payments.py=modify"],
    )?;
    tour.say("The second agent plans to build on the very class that is about to go. It hears so before it writes a line.");
    let second = publish(
        paypal,
        "paypal-payments",
        "Extend PaymentService with PayPal support",
        ["symbol:PaymentService=extend", "api:POST /payments=add"],
    )?;
    let parties = Parties {
        stripe,
        paypal,
        replacing: id(&first["intent"]["id"])?,
        extending: id(&second["intent"]["id"])?,
        conflict: id(&second["conflicts"][0]["id"])?,
    };
    tour.say("Git would have said nothing: the two would have edited different files. Why it matters:");
    tour.step(paypal.at, &["conflicts", "show", &parties.conflict])?;
    Ok(parties)
}

fn agree(tour: &Tour<'_>, parties: &Parties<'_>) -> Result<(), Failure> {
    let Parties { stripe, paypal, replacing, extending, conflict } = parties;
    tour.say("It says what it makes of that, and writes to the other.");
    let assessment = [
        "assess",
        "record",
        "--agent",
        paypal.agent,
        "--intent",
        extending,
        "--related-intent",
        replacing,
        "--verdict",
        "conflicts",
        "--action",
        "waiting",
        "--rationale",
        "Their replacement removes the class I extend",
    ];
    tour.step(paypal.at, &assessment)?;
    let message = "Introduce a PaymentProvider first? I will build on that and leave PaymentService to you.";
    let sent = tour.step(
        paypal.at,
        &[
            "coordinate",
            "send",
            "--from",
            paypal.agent,
            "--to",
            stripe.agent,
            "--conflict",
            conflict,
            "--message",
            message,
        ],
    )?;
    tour.say("The first agent finds the message when it looks, and takes the provider into its plan.");
    tour.step(stripe.at, &["coordinate", "inbox", stripe.agent, "--mark-read"])?;
    tour.step(
        stripe.at,
        &[
            "intent",
            "amend",
            replacing,
            "--agent",
            stripe.agent,
            "--scope",
            "symbol:PaymentProvider=add",
            "--scope",
            "symbol:PaymentService=replace",
            "--scope",
            "file:src/payments.py=modify",
        ],
    )?;
    tour.say("They agree, and the agreement is a decision on record.");
    let why = format!("agreed in {}", id(&sent["id"])?);
    tour.step(
        stripe.at,
        &[
            "conflicts",
            "resolve",
            conflict,
            "--agent",
            stripe.agent,
            "--resolution",
            "sequenced: PaymentProvider lands first",
            "--rationale",
            &why,
        ],
    )?;
    Ok(())
}

fn begin(tour: &Tour<'_>, parties: &Parties<'_>) -> Result<(), Failure> {
    tour.say("Each says which scopes it is at work on, and the first one begins.");
    let claim = |side: Side<'_>, intent: &str, scope: &str| {
        let words = ["work", "claim", "--agent", side.agent, "--intent", intent, "--scope", scope];
        tour.step(side.at, &words)
    };
    claim(parties.stripe, &parties.replacing, "symbol:PaymentProvider")?;
    claim(parties.paypal, &parties.extending, "api:POST /payments")?;
    let start = ["work", "start", &parties.replacing, "--agent", parties.stripe.agent];
    tour.step(parties.stripe.at, &start)?;
    Ok(())
}

/// The id in an answer.
fn id(value: &Value) -> Result<String, Failure> {
    let id = value.as_str().map(str::to_owned);
    id.ok_or_else(|| Failure::new(Code::InternalError, "the demonstration did not go as it was told"))
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
        screen.verbatim(format!("{} $ foremerge {}", place.display(), shell(words)));
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
            Chosen::Demo(_) | Chosen::Lifecycle | Chosen::Watch(_) => {
                Err(Failure::new(Code::InternalError, "the demonstration types operations alone"))
            }
        }
    }
}

/// The words as a shell would take them.
pub(super) fn shell(words: &[&str]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}
