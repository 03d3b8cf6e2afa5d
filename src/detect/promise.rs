//! The operation that a summary promises for a scope declared without one.
//!
//! English is guessed at here, so nothing that follows from it is ever asserted.

use std::ops::Range;

use super::english::{
    AUXILIARIES, CLAUSE_ENDS, FROM, METHODS, NEGATIONS, OPERATION_VERBS, PARTS, PASSIVE, PRONOUNS,
    SUBORDINATE, TOWARDS, WHOLES, singular, stem,
};
use super::thing::Thing;
use crate::domain::{ScopeKind, ScopeOperation};

/// The operation a summary promises for a scope.
///
/// The first operation verb that is not negated governs, of those in the clauses that name the
/// scope if any does. A destructive one that governs only a part of the thing, or something that
/// is not the thing, is a modification.
#[must_use]
pub fn operation(summary: &str, kind: ScopeKind, key: &str) -> ScopeOperation {
    let thing = Thing::new(kind, key);
    let sentence = Sentence::new(summary);
    let clauses = sentence.clauses(&thing);
    // The clause that names most of it, the first of several.
    let governing = clauses.iter().rev().max_by_key(|clause| {
        let places = clause.objects.iter().chain([&clause.before, &clause.after]);
        places.map(|place| thing.said_in(sentence.at(place))).max()
    });
    governing.map_or(ScopeOperation::Modify, |clause| {
        let less = clause.operation.is_destructive() && sentence.takes_less(clause, &thing);
        if less { ScopeOperation::Modify } else { clause.operation }
    })
}

/// The words of a summary, and where it pauses.
struct Sentence<'s> {
    words: Vec<&'s str>,
    fragments: Vec<Fragment>,
}

/// Words up to a comma, a full stop or a conjunction.
struct Fragment {
    place: Range<usize>,
    /// Whether it can be one more of what the one before it lists.
    listed: bool,
}

/// A verb, and where is said what it governs.
struct Clause {
    operation: ScopeOperation,
    before: Range<usize>,
    after: Range<usize>,
    /// What it governs, several places where several things are listed.
    objects: Vec<Range<usize>>,
}

impl<'s> Sentence<'s> {
    fn new(summary: &'s str) -> Self {
        let mut sentence = Self { words: vec![], fragments: vec![] };
        let (mut start, mut listed) = (0, false);
        let mut spoken = summary.split_whitespace().peekable();
        while let Some(word) = spoken.next() {
            let said = trimmed(word);
            let joins = is_one_of(&["", "and"], said);
            // What is dragged and dropped is not thrown away.
            let dragged = sentence.words.last().is_some_and(|last| begins(last, "drag"));
            if joins && dragged && spoken.next_if(|next| begins(trimmed(next), "drop")).is_some() {
                continue;
            }
            let parts = joins || is_one_of(&["then", "but"], said);
            if !parts {
                sentence.words.push(said);
            }
            if parts || word.ends_with([',', ';', '.', ':']) {
                let end = sentence.words.len();
                if start < end {
                    sentence.fragments.push(Fragment { place: start..end, listed });
                    listed = true;
                }
                listed &= joins || word.ends_with(',');
                start = end;
            }
        }
        let end = sentence.words.len();
        sentence.fragments.push(Fragment { place: start..end, listed });
        sentence
    }

    fn at(&self, place: &Range<usize>) -> &[&'s str] {
        self.words.get(place.clone()).unwrap_or_default()
    }

    fn clauses(&self, thing: &Thing) -> Vec<Clause> {
        let mut clauses: Vec<Clause> = Vec::new();
        // Whether the fragment before this one ends in something the last verb governs.
        let mut listing = false;
        // What is listed and no verb governs yet.
        let mut subjects = Vec::new();
        for Fragment { place, listed } in &self.fragments {
            let words = self.at(place);
            if !listed {
                subjects.clear();
            }
            if let Some((at, operation)) = verb(words, thing) {
                let (before, after) = (place.start..place.start + at, place.start + at + 1..place.end);
                let subject = words[..at].iter().any(|word| !is_one_of(AUXILIARIES, word));
                let passive = subject && is_passive(words, at);
                listing = !passive && lists(self.at(&after));
                subjects.push(before.clone());
                let objects = if passive { std::mem::take(&mut subjects) } else { vec![after.clone()] };
                subjects.clear();
                clauses.push(Clause { operation, before, after, objects });
                continue;
            }
            listing &= *listed && !words.iter().any(|word| is_one_of(NEGATIONS, word));
            if let Some(clause) = clauses.last_mut().filter(|_| listing) {
                clause.objects.push(place.clone());
                listing = lists(words);
            } else {
                subjects.push(place.clone());
            }
        }
        clauses
    }

    /// Whether a destructive verb takes less away than the thing.
    fn takes_less(&self, clause: &Clause, thing: &Thing) -> bool {
        let most = clause.objects.iter().rev().max_by_key(|place| thing.said_in(self.at(place)));
        let Some(object) = most else { return false };
        let place = self.meant(self.direct(object.clone()));
        let direct = self.at(&place);
        let Some(head) = direct.last().map(|head| singular(&head.to_lowercase())) else {
            // What is moved to the thing leaves it standing.
            let towards = self.at(object).split_first().filter(|(first, _)| is_one_of(TOWARDS, first));
            return towards.is_some_and(|(_, rest)| thing.named(rest) > 0);
        };
        if PARTS.contains(&head.as_str()) && !thing.can_be_called(&head) {
            return true;
        }
        if thing.is_named_by(direct) {
            return false;
        }
        thing.has_more(direct) || thing.named(direct) < self.elsewhere(&place, thing)
    }

    /// The thing a verb governs, without what it belongs to: `cache` of `the cache inside Cart`.
    fn direct(&self, mut object: Range<usize>) -> Range<usize> {
        let first = |place: &Range<usize>, list: &[&str]| {
            place.clone().find(|at| is_one_of(list, self.words[*at])).unwrap_or(place.end)
        };
        // The `of` of `get rid of` and the `out` of `swap out` belong to the verb.
        while object.start < object.end && is_one_of(&["of", "out"], self.words[object.start]) {
            object.start += 1;
        }
        object.end = first(&object, CLAUSE_ENDS);
        while object.start < object.end && is_one_of(AUXILIARIES, self.words[object.end - 1]) {
            object.end -= 1;
        }
        let direct = object.start..first(&object, FROM);
        let of = direct.end..object.end.min(direct.end + 1);
        let is_whole = self.at(&direct).last().is_some_and(|head| is_one_of(WHOLES, head));
        if is_whole && self.at(&of).iter().any(|word| is_one_of(&["of"], word)) {
            let rest = of.end..object.end;
            return rest.start..first(&rest, FROM);
        }
        direct
    }

    /// What a pronoun stands for: what the fragment before it is about.
    fn meant(&self, direct: Range<usize>) -> Range<usize> {
        let is_pronoun = matches!(self.at(&direct), [word] if is_one_of(PRONOUNS, word));
        let before = self.fragments.iter().rfind(|fragment| fragment.place.end <= direct.start);
        before.filter(|_| is_pronoun).map_or(direct, |before| self.direct(before.place.clone()))
    }

    /// How much of the thing's name is said in one fragment, without what is said at `place`.
    fn elsewhere(&self, place: &Range<usize>, thing: &Thing) -> usize {
        let named = |Fragment { place: whole, .. }: &Fragment| {
            let inside = whole.start <= place.start && place.end <= whole.end;
            let cut = if inside { place.clone() } else { whole.end..whole.end };
            thing.named(self.at(&(whole.start..cut.start))).max(thing.named(self.at(&(cut.end..whole.end))))
        };
        self.fragments.iter().map(named).max().unwrap_or(0)
    }
}

fn trimmed(spoken: &str) -> &str {
    spoken.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
}

fn begins(word: &str, start: &str) -> bool {
    word.to_lowercase().starts_with(start)
}

fn is_one_of(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether what comes after these words can be one more thing like them.
fn lists(words: &[&str]) -> bool {
    !words.iter().any(|word| is_one_of(CLAUSE_ENDS, word) || is_one_of(FROM, word))
}

/// The first verb that promises something, and what.
fn verb(words: &[&str], thing: &Thing) -> Option<(usize, ScopeOperation)> {
    let main = words.iter().position(|word| is_one_of(SUBORDINATE, word)).unwrap_or(words.len());
    (0..main).find_map(|at| {
        let verb = stem(&words[at].to_lowercase());
        let (_, operation) = OPERATION_VERBS.iter().find(|(known, _)| *known == verb)?;
        let negated = words[..at].iter().rev().take(2).any(|word| is_one_of(NEGATIONS, word));
        let is_method = METHODS.contains(&words[at]);
        let is_verb = !negated && !is_method && !is_of_the_name(words, at, thing) && !is_quality(words, at);
        is_verb.then_some((at, *operation))
    })
}

/// `Move dialog` promises nothing about `MoveDialog`, nor does `let admins delete users` about `User::delete`.
fn is_of_the_name(words: &[&str], at: usize, thing: &Thing) -> bool {
    let goes_on = words.get(at + 1).is_some_and(|next| thing.goes_on(words[at], next));
    thing.has(words[at]) && (at > 0 || goes_on)
}

fn is_past(word: &str) -> bool {
    word.to_lowercase().ends_with("ed")
}

/// `PaymentService is removed`, `PaymentService dropped from the API`.
fn is_passive(words: &[&str], at: usize) -> bool {
    let helped = words[..at].iter().rev().take(2).any(|word| is_one_of(PASSIVE, word));
    let alone = words.get(at + 1).is_none_or(|next| is_one_of(CLAUSE_ENDS, next) || is_one_of(FROM, next));
    is_past(words[at]) && (helped || alone)
}

/// `deleted` of `show deleted payments`.
fn is_quality(words: &[&str], at: usize) -> bool {
    let is_ours = |word: &&str| is_one_of(AUXILIARIES, word) || is_one_of(&["we", "i"], word);
    is_past(words[at]) && !is_passive(words, at) && !words[..at].iter().all(is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promised(summary: &str) -> ScopeOperation {
        operation(summary, ScopeKind::Symbol, "PaymentService")
    }

    #[test]
    fn the_first_operation_verb_governs() {
        assert_eq!(promised("Replace PaymentService with StripePaymentService"), ScopeOperation::Replace);
        assert_eq!(promised("Adds PayPal to PaymentService, then removes the old path"), ScopeOperation::Add);
        assert_eq!(promised("PaymentService is being removed"), ScopeOperation::Remove);
        assert_eq!(promised("Dropping PaymentService"), ScopeOperation::Remove);
        assert_eq!(promised("Think about PaymentService"), ScopeOperation::Modify);
        assert_eq!(promised(""), ScopeOperation::Modify);
        assert_eq!(promised("Add a Stripe client and remove PaymentService"), ScopeOperation::Remove);
        assert_eq!(promised("Get rid of PaymentService"), ScopeOperation::Remove);
    }

    #[test]
    fn what_will_not_happen_does_not_count() {
        assert_eq!(promised("Do not remove PaymentService, extend it"), ScopeOperation::Extend);
        assert_eq!(promised("Stop deleting PaymentService records"), ScopeOperation::Modify);
        assert_eq!(promised("Speed up PaymentService without replacing it"), ScopeOperation::Modify);
        assert_eq!(promised("Never rename PaymentService"), ScopeOperation::Modify);
    }

    #[test]
    fn taking_away_a_part_is_a_modification() {
        for summary in [
            "Remove the retry flag from PaymentService",
            "Delete PaymentService tests",
            "Drop the unused counter in PaymentService",
            "Remove dead code from PaymentService",
            "Remove typos in PaymentService",
            "Remove retries from PaymentService",
        ] {
            assert_eq!(promised(summary), ScopeOperation::Modify, "{summary}");
        }
        assert_eq!(promised("Remove PaymentService from the billing module"), ScopeOperation::Remove);
        for summary in [
            "Remove PaymentService's retry queue",
            "Remove unused imports across PaymentService",
            "Move PaymentService tests into their own folder",
            "Drop the payment form from PaymentService",
        ] {
            assert_eq!(promised(summary), ScopeOperation::Modify, "{summary}");
        }
    }

    #[test]
    fn what_sounds_like_a_verb_and_is_none_promises_nothing() {
        assert_eq!(promised("Rate limit DELETE /payment/{id} of PaymentService"), ScopeOperation::Modify);
        assert_eq!(promised("Support drag and drop for PaymentService"), ScopeOperation::Extend);
        assert_eq!(promised("Allow dragging & dropping in PaymentService"), ScopeOperation::Modify);
        assert_eq!(promised("Remove EmailService and extend PaymentService"), ScopeOperation::Extend);
    }

    #[test]
    fn what_happens_to_something_else_leaves_the_thing_standing() {
        for summary in [
            "Replace the HTTP client in PaymentService with hyper",
            "PaymentService: drop the in-memory cache",
            "PaymentService should drop idle connections",
            "Let PaymentService replace expired cards",
            "Delete files left behind by PaymentService",
            "Show deleted payments in PaymentService",
            "Cards are removed from PaymentService after a year",
            "Migrate checkout to PaymentService",
            "Move to PaymentService",
            "Replace OrderService with PaymentService",
            "Delete PaymentService::charge",
            "Delete PaymentServiceTest",
            "Delete the retry, timeout and backoff flags of PaymentService",
        ] {
            assert_eq!(promised(summary), ScopeOperation::Modify, "{summary}");
        }
        assert_eq!(promised("Remove PaymentServiceTest and extend PaymentService"), ScopeOperation::Extend);
    }

    #[test]
    fn what_is_listed_or_meant_by_a_pronoun_goes_too() {
        for summary in [
            "Remove OrderService, PaymentService and UserService",
            "OrderService and PaymentService are removed",
            "We no longer need PaymentService, remove it",
            "Fold PaymentService into OrderService and delete it",
            "Remove PaymentService but keep its tests",
            "Delete PaymentService and all its tests",
            "PaymentService dropped from the public API",
            "Drop the old PaymentService implementation",
        ] {
            assert_eq!(promised(summary), ScopeOperation::Remove, "{summary}");
        }
        assert_eq!(promised("Replace the implementation of PaymentService"), ScopeOperation::Replace);
        assert_eq!(promised("Fold OrderService into PaymentService and delete it"), ScopeOperation::Modify);
    }

    #[test]
    fn the_kind_of_a_thing_says_what_it_can_be_called() {
        for (kind, key, summary) in [
            (ScopeKind::Env, "FEATURE_X", "Remove the FEATURE_X variable"),
            (ScopeKind::Config, "billing.retry", "Remove the billing.retry option"),
            (ScopeKind::Schema, "orders.total", "Remove the total column from orders"),
            (ScopeKind::Symbol, "OrderRepository::find", "Remove the find method from OrderRepository"),
            (ScopeKind::Test, "login redirects", "Remove the login redirects test"),
            (ScopeKind::Symbol, "RetryCounter", "Remove the retry counter"),
            (ScopeKind::File, "src/cart/total.rs", "Remove total.rs from src/cart"),
            (ScopeKind::Api, "DELETE /users/{id}", "Remove DELETE /users/{id} from the public API"),
        ] {
            assert_eq!(operation(summary, kind, key), ScopeOperation::Remove, "{summary}");
        }
        for (kind, key, summary) in [
            (ScopeKind::Symbol, "OrderRepository::find", "Remove caching from OrderRepository::find"),
            (ScopeKind::Schema, "orders", "Remove the total column from orders"),
            (ScopeKind::Schema, "orders", "Remove orders.total"),
            (ScopeKind::File, "src/cart", "Remove src/cart/old.rs"),
            (ScopeKind::Api, "GET /orders", "Remove the page parameter from GET /orders"),
            (ScopeKind::Component, "MoveDialog", "Move dialog must close on escape"),
            (ScopeKind::Symbol, "User::delete", "Let admins delete users"),
        ] {
            assert_eq!(operation(summary, kind, key), ScopeOperation::Modify, "{summary}");
        }
    }
}
