//! Every operation, with its types erased: what the surfaces loop over.

use clap::{Args, FromArgMatches};
use serde_json::Value;

use super::accepted::{self, Refused, Step};
use super::answer::{Answer, AnyAnswer};
use super::{
    Http, Operation, Preset, Spec, agent, assess, conflicts, coordinate, events, graph, init, intent, status,
    work, worktree,
};
use crate::domain::text::beginning;
use crate::failure::{Code, Failure};
use crate::ledger;
use crate::service::nearest::agent_meant;
use crate::service::{Call, Cx, Host};

/// What an operation without its types answers.
pub type Answered = Result<Box<dyn AnyAnswer>, Failure>;

/// An operation without its types.
pub struct Entry {
    /// Names and properties.
    pub spec: &'static Spec,
    /// Further routes to it.
    pub presets: &'static [Preset],
    /// JSON Schema of the input.
    pub input_schema: fn() -> schemars::Schema,
    /// JSON Schema of the data it answers.
    pub output_schema: fn() -> schemars::Schema,
    /// Whether its answers have ids.
    pub has_ids: bool,
    /// Adds the input's arguments to a command.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Runs it with parsed arguments.
    pub run_arguments: fn(&Host, &Call<'_>, &clap::ArgMatches) -> Answered,
    /// Runs it with a JSON object.
    pub run_json: fn(&Host, &Call<'_>, Value) -> Answered,
}

/// Every operation, in the order help lists them.
pub const ALL: &[Entry] = &[
    entry::<init::Init>(),
    entry::<agent::register::Register>(),
    entry::<agent::list::List>(),
    entry::<agent::retire::Retire>(),
    entry::<intent::publish::Publish>(),
    entry::<intent::amend::Amend>(),
    entry::<intent::show::Show>(),
    entry::<work::query::Query>(),
    entry::<work::claim::ClaimWork>(),
    entry::<work::start::Start>(),
    entry::<work::release::Release>(),
    entry::<work::discard::Discard>(),
    entry::<work::adopt::Adopt>(),
    entry::<assess::record::Record>(),
    entry::<assess::list::List>(),
    entry::<coordinate::send::Send>(),
    entry::<coordinate::inbox::Inbox>(),
    entry::<conflicts::check::Check>(),
    entry::<conflicts::list::List>(),
    entry::<conflicts::show::Show>(),
    entry::<conflicts::detections::Detections>(),
    entry::<conflicts::resolve::Resolve>(),
    entry::<events::list::List>(),
    entry::<events::audit::Audit>(),
    entry::<status::Status>(),
    entry::<graph::Graph>(),
    entry::<worktree::create::Create>(),
    entry::<worktree::list::List>(),
];

impl Entry {
    /// Every route to it, with the fields that the route decides and no caller.
    #[must_use]
    pub fn routes(&self) -> Vec<(Http, Vec<(&'static str, bool)>)> {
        let deciding = |set: &[&'static str]| {
            let decided = self.presets.iter().flat_map(|preset| preset.set);
            decided.map(|field| (*field, set.contains(field))).collect()
        };
        let own = self.spec.http.map(|http| (http, deciding(&[])));
        let further = self.presets.iter().map(|preset| (preset.http, deciding(preset.set)));
        own.into_iter().chain(further).collect()
    }
}

/// The operation with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.spec.id == id)
}

const fn entry<O: Operation>() -> Entry {
    Entry {
        spec: &O::SPEC,
        presets: O::PRESETS,
        input_schema: || schemars::schema_for!(O::Input),
        output_schema: || schemars::schema_for!(O::Output),
        has_ids: O::Output::IDS.is_some(),
        arguments: <O::Input as Args>::augment_args,
        run_arguments: run_arguments::<O>,
        run_json: run_json::<O>,
    }
}

fn run_arguments<O: Operation>(host: &Host, call: &Call<'_>, matches: &clap::ArgMatches) -> Answered {
    let input = O::Input::from_arg_matches(matches)
        .map_err(|error| Failure::invalid("arguments", error, "what --help says"))?;
    let holds = |argument: &&clap::Id, reference: &str| {
        let values = matches.try_get_raw(argument.as_str()).ok().flatten().into_iter().flatten();
        values.filter_map(|value| value.to_str()).any(|value| value.trim().eq_ignore_ascii_case(reference))
    };
    let field =
        |reference: &str| matches.ids().find(|argument| holds(argument, reference)).map(ToString::to_string);
    run::<O>(host, call, input).map_err(|failure| failure.in_field(field))
}

#[expect(clippy::needless_pass_by_value, reason = "a surface gives away what it read")]
fn run_json<O: Operation>(host: &Host, call: &Call<'_>, input: Value) -> Answered {
    // Serde would take a list for a struct, field by field.
    if !input.is_object() {
        return Err(Failure::invalid("input", "must be a JSON object", "a JSON object"));
    }
    let read = serde_path_to_error::deserialize(&input).map_err(|error| {
        let why = error.inner().to_string();
        let written = value_at(&input, error.path()).and_then(Value::as_str).unwrap_or_default();
        let meant = agent_meant(host, written, &why).map(|meant| format!("; {meant}")).unwrap_or_default();
        let why = format!("{}{meant}", beginning(&why, 2_000));
        refused(&schemars::schema_for!(O::Input), error.path(), &input, &why)
    })?;
    let field = |reference: &str| {
        let held =
            |value: &Value| value.as_str().is_some_and(|value| value.trim().eq_ignore_ascii_case(reference));
        let fields = input.as_object().into_iter().flatten();
        let mut fields = fields
            .filter(|(_, value)| held(value) || value.as_array().is_some_and(|items| items.iter().any(held)));
        fields.next().map(|(name, _)| name.clone())
    };
    run::<O>(host, call, read).map_err(|failure| failure.in_field(field))
}

/// The value that a path leads to.
fn value_at<'v>(input: &'v Value, path: &serde_path_to_error::Path) -> Option<&'v Value> {
    use serde_path_to_error::Segment;
    path.iter().try_fold(input, |value, segment| match segment {
        Segment::Map { key } => value.get(key),
        Segment::Seq { index } => value.get(index),
        _ => None,
    })
}

/// An input that does not fit its schema at `path`.
fn refused(schema: &schemars::Schema, path: &serde_path_to_error::Path, input: &Value, why: &str) -> Failure {
    use serde_path_to_error::Segment;
    let steps = path.iter().filter_map(|step| match step {
        Segment::Seq { index } => Some(Step::Item(*index)),
        Segment::Map { key } => Some(Step::Field(key)),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    let Refused { field, accepted } = accepted::at(schema.as_value(), &steps.collect::<Vec<_>>(), input);
    let field = beginning(if field.is_empty() { "input" } else { &field }, 200);
    Failure::invalid(&field, why, accepted)
}

fn run<O: Operation>(host: &Host, call: &Call<'_>, input: O::Input) -> Answered {
    // A call may wait its turn; one that nobody waits for any more must not act.
    if (call.cancelled)() {
        return Err(ledger::Error::Cancelled.into());
    }
    let outcome = Cx::open(host, call).and_then(|cx| O::run(&cx, input));
    if outcome.as_ref().is_err_and(|failure| failure.code == Code::LedgerReplaced) {
        // This call is refused; the next one opens what is there now.
        host.forget_ledger();
    }
    Ok(Box::new(outcome?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::operations::{Effect, Method};

    fn properties(schema: &schemars::Schema) -> BTreeSet<String> {
        let properties = schema.as_value()["properties"].as_object();
        properties.into_iter().flat_map(|fields| fields.keys().cloned()).collect()
    }

    #[test]
    fn no_two_operations_share_an_id_a_command_or_a_route() {
        let ids: BTreeSet<_> = ALL.iter().map(|entry| entry.spec.id).collect();
        let commands: BTreeSet<_> =
            ALL.iter().map(|entry| (entry.spec.cli.noun, entry.spec.cli.verb)).collect();
        assert_eq!((ids.len(), commands.len()), (ALL.len(), ALL.len()));
        let routes: Vec<_> = ALL.iter().flat_map(Entry::routes).collect();
        let distinct: BTreeSet<_> =
            routes.iter().map(|(route, _)| format!("{:?} {}", route.method, route.path)).collect();
        assert_eq!(distinct.len(), routes.len());
        // Some clients refuse longer tool names.
        assert!(
            ids.iter().all(|id| id.len() <= 40 && id.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
        );
    }

    #[test]
    fn every_name_in_a_route_and_every_field_it_decides_is_a_field_of_the_input() {
        for entry in ALL {
            let schema = (entry.input_schema)();
            let fields = properties(&schema);
            for (route, decided) in entry.routes() {
                for name in route.path.split('{').skip(1).filter_map(|part| part.split('}').next()) {
                    assert!(fields.contains(name), "{}: {name} in {}", entry.spec.id, route.path);
                }
                for (name, _) in decided {
                    let field = &schema.as_value()["properties"][name];
                    assert_eq!(field["type"], "boolean", "{}: {name} on {}", entry.spec.id, route.path);
                }
            }
        }
    }

    #[test]
    fn what_is_got_records_nothing_unless_the_route_decides_against_it() {
        for entry in ALL.iter().filter(|entry| entry.spec.effect == Effect::Write) {
            for (route, decided) in entry.routes() {
                let unset = decided.iter().any(|(_, set)| !set);
                assert!(route.method == Method::Post || unset, "{} is written by a GET", entry.spec.id);
            }
        }
    }

    #[test]
    fn messages_are_marked_as_read_on_a_route_of_its_own_alone() {
        let routes = find("read_inbox").unwrap().routes();
        let routes = routes.iter().map(|(route, decided)| (route.method, route.path, decided.as_slice()));
        let expected = [
            (Method::Get, "/v1/agents/{agent_id}/inbox", &[("mark_read", false)][..]),
            (Method::Post, "/v1/agents/{agent_id}/inbox/read", &[("mark_read", true)]),
        ];
        assert!(routes.eq(expected));
    }

    #[test]
    fn every_field_of_an_input_and_every_operation_says_what_it_is() {
        for entry in ALL {
            assert!(
                !entry.spec.summary.is_empty() && entry.spec.guide.contains("Example:"),
                "{}",
                entry.spec.id
            );
            let schema = (entry.input_schema)();
            assert_eq!(schema.as_value()["additionalProperties"], false, "{} takes anything", entry.spec.id);
            let fields = schema.as_value()["properties"].as_object();
            for (name, field) in fields.into_iter().flatten() {
                let described = field["description"].as_str().is_some_and(|text| !text.is_empty());
                assert!(described, "{}.{name} has no description", entry.spec.id);
            }
        }
    }

    #[test]
    fn what_an_answer_may_leave_out_is_not_required_by_its_schema() {
        let schema = (find("publish_intent").unwrap().output_schema)();
        let required: Vec<_> = schema.as_value()["required"].as_array().unwrap().clone();
        assert!(required.iter().any(|field| field == "intent"));
        assert!(!required.iter().any(|field| field == "warnings" || field == "cut"), "{required:?}");
    }
}
