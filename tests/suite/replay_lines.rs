//! The line rules of `tests/bench/replay.rs`: what one side of a merge would have declared.

#[path = "../bench/replay/scopes.rs"]
mod scopes;

use foremerge::detect::outline;
use foremerge::detect::outline::Language::{self, Go, Java, Python, Rust, Script};
use scopes::{Edited, Hunk};

/// The scopes of a side that changed the file `a.EXT` from one text to another, all lines of
/// which differ from `first` on, as `KEY=OPERATION`; the file itself left out.
fn declared(language: Language, path: &str, old: &str, new: &str) -> Vec<String> {
    let (before, after): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let rest = (&before[same..], &after[same..]);
    let tail = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(one, other)| one == other).count();
    let hunk = Hunk { old: (same + 1, rest.0.len() - tail), new: (same + 1, rest.1.len() - tail) };
    let edit = Edited {
        status: 'M',
        old: path.into(),
        new: path.into(),
        hunks: vec![hunk],
        outlines: Some((language, outline::outline(language, old), outline::outline(language, new))),
    };
    let side = scopes::declared(&[edit]);
    assert_eq!(scopes::side(side.iter(), "").scopes.len(), side.len());
    side.iter().skip(1).map(|scope| format!("{}={}", scope.key, scope.operation)).collect()
}

/// What a file declares, as `Container::name` with the lines it stands in.
fn names(language: Language, text: &str) -> Vec<String> {
    let name = |found: &outline::Declaration| {
        let owner = found.container.as_ref().map_or(String::new(), |owner| format!("{owner}::"));
        format!("{owner}{} {}-{}", found.name, found.lines.0, found.lines.1)
    };
    outline::outline(language, text).declarations.iter().map(name).collect()
}

#[test]
fn the_language_of_a_file_follows_from_its_ending() {
    for (path, language) in [
        ("a/b.rs", Rust),
        ("b.py", Python),
        ("c.tsx", Script),
        ("c.mjs", Script),
        ("d.go", Go),
        ("E.java", Java),
    ] {
        assert_eq!(Language::of(path), Some(language));
    }
    assert_eq!(Language::of("src.rs/readme"), None);
}

#[test]
fn rust_methods_belong_to_the_type_of_their_impl_and_what_stands_in_a_function_to_the_function() {
    let text = "pub struct Cart<T> {\n    items: Vec<T>,\n}\n\nimpl<T: Into<String>> fmt::Display for Cart<T> {\n    \
                fn fmt(&self) -> Result<()> {\n        fn inner() {}\n        Ok(())\n    }\n}\n\npub(crate) const fn \
                total() -> u8 { 1 } // fn not_this() {\nconst LIMIT: usize = 3;\ntrait Priced {\n    fn price(&self);\n}\n\
                mod tests {\n    fn helper() {}\n}\n";
    let expected = [
        "Cart 1-3",
        "Cart::fmt 6-9",
        "total 12-12",
        "LIMIT 13-13",
        "Priced 14-16",
        "Priced::price 15-15",
        "helper 18-18",
    ];
    assert_eq!(names(Rust, text), expected);
}

#[test]
fn python_declarations_end_with_their_indentation_and_begin_with_their_decorators() {
    let text = "LIMIT = 3\n\n@dataclass(\n    frozen=True,\n)\nclass Cart(Base):\n    size = 1\n\n    async def \
                total(\n        self,\n    ):\n        def inner():\n            pass\n        return \"\"\"\ndef no():\n\
                \"\"\"\n\nif True:\n    def main(): pass\n";
    assert_eq!(names(Python, text), ["LIMIT 1-1", "Cart 3-16", "Cart::total 9-16", "main 19-19"]);
}

#[test]
fn scripts_declare_functions_arrows_classes_and_their_methods() {
    let text = "export default class Cart extends Base {\n  private items = [];\n  async total(a: {b: number}): {c: \
                number} {\n    if (a) {\n    }\n  }\n  empty = () => {\n  };\n}\nexport const sum = (a) => a\nexport \
                type Id = string;\nfunction* walk() {\n}\nconst LIMIT = {\n  a: 1,\n};\ninterface Priced {\n  \
                price(): number;\n}\n";
    let expected = [
        "Cart 1-9",
        "Cart::total 3-6",
        "Cart::empty 7-8",
        "sum 10-10",
        "Id 11-11",
        "walk 12-13",
        "LIMIT 14-16",
        "Priced 17-19",
    ];
    assert_eq!(names(Script, text), expected);
}

#[test]
fn go_methods_belong_to_their_receiver() {
    let text = "type Cart struct {\n\titems []int\n}\n\nfunc (c *Cart[T]) Total(by interface{}) interface{} {\n\treturn \
                nil\n}\n\nfunc New() *Cart { return nil }\n\nvar limit = 3\ntype Any interface{}\n";
    let expected = ["Cart 1-3", "Cart::Total 5-7", "New 9-9", "limit 11-11", "Any 12-12"];
    assert_eq!(names(Go, text), expected);
}

#[test]
fn java_methods_are_told_from_calls_and_begin_with_their_annotations() {
    let text = "@Entity(name = \"cart\")\npublic final class Cart {\n    private int size = compute(1);\n\n    \
                public Cart(int size) {\n        super(size);\n    }\n\n    @Override\n    public <T> List<T> total(\n            \
                int by) throws E {\n        return of(by);\n    }\n\n    abstract int price();\n\n    enum Kind { A }\n}\n";
    let expected =
        ["Cart 1-18", "Cart::Cart 5-7", "Cart::total 9-13", "Cart::price 15-15", "Cart::Kind 17-17"];
    assert_eq!(names(Java, text), expected);
}

#[test]
fn a_change_inside_a_body_modifies_and_another_signature_replaces() {
    let old = "fn pay(sum: u8) {\n    send(sum);\n}\n";
    let body = declared(Rust, "src/pay.rs", old, "fn pay(sum: u8) {\n    send(sum + 1);\n}\n");
    assert_eq!(body, ["src/pay.rs::pay=modify"]);
    let signature = declared(Rust, "src/pay.rs", old, "fn pay(sum: u16) {\n    send(sum);\n}\n");
    assert_eq!(signature, ["src/pay.rs::pay=replace"]);
    let visibility = declared(Rust, "src/pay.rs", old, "pub(crate) fn pay(sum: u8) {\n    send(sum);\n}\n");
    assert_eq!(visibility, ["src/pay.rs::pay=modify"], "who may call more breaks nobody");
    let comment = declared(Rust, "src/pay.rs", old, "fn pay(sum: u8) {\n    // now\n    send(sum);\n}\n");
    assert!(comment.is_empty(), "{comment:?}");
}

#[test]
fn one_more_optional_parameter_extends() {
    let old = "class Cart:\n    def pay(self, sum):\n        pass\n";
    let option =
        declared(Python, "pay.py", old, "class Cart:\n    def pay(self, sum, by=None):\n        pass\n");
    assert_eq!(option, ["Cart::pay=extend"]);
    let demand = declared(Python, "pay.py", old, "class Cart:\n    def pay(self, sum, by):\n        pass\n");
    assert_eq!(demand, ["Cart::pay=replace"]);
}

#[test]
fn another_name_with_the_same_parameters_in_one_hunk_is_a_rename() {
    let old = "func pay(sum int) {\n}\n";
    assert_eq!(declared(Go, "pay.go", old, "func charge(sum int) {\n}\n"), ["pay.go::pay=rename"]);
    let other = declared(Go, "pay.go", old, "func charge(sum string) {\n}\n");
    assert_eq!(other, ["pay.go::charge=add", "pay.go::pay=remove"]);
}

#[test]
fn who_adds_or_removes_a_class_names_the_class_and_not_its_members() {
    let old = "class A {\n  run() {\n  }\n}\n";
    assert_eq!(declared(Script, "a.ts", old, ""), ["A=remove"]);
    assert_eq!(declared(Script, "a.ts", "", old), ["A=add"]);
    let grown = "class A {\n  run() {\n  }\n\n  stop() {\n  }\n}\n";
    assert_eq!(declared(Script, "a.ts", old, grown), ["A::stop=add"]);
}

#[test]
fn what_goes_in_one_file_and_comes_in_another_has_moved() {
    let text = "class Cart {\n    int total() { return 1; }\n}\n";
    let edit = |path: &str, old: &str, new: &str| Edited {
        status: 'M',
        old: path.into(),
        new: path.into(),
        hunks: vec![Hunk { old: (1, old.lines().count()), new: (1, new.lines().count()) }],
        outlines: Some((Java, outline::outline(Java, old), outline::outline(Java, new))),
    };
    let side = scopes::declared(&[edit("a/Cart.java", text, ""), edit("b/Cart.java", "", text)]);
    let symbols: Vec<_> =
        side.iter().skip(2).map(|scope| (scope.key.as_str(), scope.operation.as_str())).collect();
    assert_eq!(symbols, [("Cart", "migrate")]);
}

#[test]
fn files_are_added_removed_renamed_and_modified() {
    let edit = |status, old: &str, new: &str| Edited {
        status,
        old: old.into(),
        new: new.into(),
        hunks: Vec::new(),
        outlines: None,
    };
    let side = scopes::declared(&[
        edit('A', "a", "a"),
        edit('D', "d", "d"),
        edit('R', "from", "to"),
        edit('M', "m", "m"),
    ]);
    let files: Vec<_> =
        side.iter().map(|scope| format!("{}:{}={}", scope.kind, scope.key, scope.operation)).collect();
    assert_eq!(files, ["file:a=add", "file:d=remove", "file:from=rename", "file:to=add", "file:m=modify"]);
}
