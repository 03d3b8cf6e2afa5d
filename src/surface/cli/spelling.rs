//! How the command line spells what every surface spells its own way.

use clap::Command;

use crate::failure::NextStep;
use crate::operations::registry;
use crate::operations::render::Whereabouts;

/// A next step as it is typed to act `there`.
#[must_use]
pub fn spelled(step: &NextStep, there: &Whereabouts) -> String {
    let words = registry::find(step.operation).map(|entry| entry.spec.cli);
    let Some(words) = words else { return step.operation.to_owned() };
    let required: Vec<_> = (registry::find(step.operation))
        .map(|entry| (entry.arguments)(Command::new("x")))
        .iter()
        .flat_map(Command::get_arguments)
        .filter(|argument| argument.is_required_set())
        .map(|argument| {
            let value = argument.get_value_names().and_then(<[_]>::first).map_or("", |name| name.as_str());
            argument.get_long().map_or_else(|| value.to_owned(), |long| format!("--{long} {value}"))
        })
        .collect();
    let words = ["foremerge"].into_iter().chain(words.noun).chain([words.verb]).map(str::to_owned);
    there.of(&words.chain(required).collect::<Vec<_>>().join(" "))
}
