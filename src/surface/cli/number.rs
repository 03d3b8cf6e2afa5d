//! Numbers on the command line, and what is said of those that are none.

use std::any::TypeId;
use std::fmt::Display;
use std::str::FromStr;

use clap::Arg;

macro_rules! numbers {
    ($argument:ident, $( $number:ident ),+) => {{
        let parsed = $argument.get_value_parser().type_id();
        $(
            if parsed == TypeId::of::<$number>() {
                let read = |text: &str| whole::<$number>(text, $number::MIN, $number::MAX);
                return $argument.value_parser(read).allow_negative_numbers(true);
            }
        )+
        $argument
    }};
}

/// The argument, if it takes a number, with a refusal that says which. One below zero is then a value to refuse by
/// the name of its option, not an option that nobody knows.
pub(super) fn explained(argument: Arg) -> Arg {
    numbers!(argument, u64, i64, u32, u16, u8)
}

fn whole<N: FromStr>(text: &str, least: impl Display, most: impl Display) -> Result<N, String> {
    text.parse().map_err(|_| format!("a whole number from {least} to {most} is accepted"))
}
