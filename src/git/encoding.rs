//! Text in the encoding that `working-tree-encoding` names, made UTF-8 and from UTF-8 as git does it. gix knows the
//! encodings of the web: of UTF-16 not the order of bytes that a file states for itself and not how to write it, and
//! UTF-32 not at all.

use gix::filter::plumbing::worktree;

/// What became of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    Utf8(Vec<u8>),
    /// Git stores it as it is: it is UTF-8 already, or is not in the encoding.
    Unchanged,
    /// Nobody here knows the encoding; git may.
    Unknown,
}

/// Decode `text`.
pub(super) fn decode(encoding: &str, text: &[u8]) -> Decoded {
    let name = encoding.to_ascii_lowercase();
    let utf = name.strip_prefix("utf").map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    let decoded = match utf {
        _ if text.is_empty() => return Decoded::Unchanged,
        Some("8") => return Decoded::Unchanged,
        Some("16" | "16le-bom") => units(text, 2, utf != Some("16"), None),
        Some("16le") => units(text, 2, false, Some(false)),
        Some("16be") => units(text, 2, false, Some(true)),
        Some("32") => units(text, 4, false, None),
        Some("32le") => units(text, 4, false, Some(false)),
        Some("32be") => units(text, 4, false, Some(true)),
        // Git knows no other either, and leaves such files as they are.
        Some(other) if other.ends_with("-bom") => None,
        _ => {
            if let Some(bytewise) = bytewise(encoding) {
                return bytewise.decode(text).map_or(Decoded::Unchanged, Decoded::Utf8);
            }
            let Ok(known) = worktree::encoding::for_label(encoding) else { return Decoded::Unknown };
            let mut utf8 = Vec::new();
            let skip = worktree::encode_to_git::RoundTripCheck::Skip;
            worktree::encode_to_git(text, known, &mut utf8, skip).ok().map(|()| utf8)
        }
    };
    decoded.map_or(Decoded::Unchanged, Decoded::Utf8)
}

/// Text of `width` bytes a unit, their order given or stated by a byte order mark. Nothing if a mark is missing or, where
/// the order is given, there, unless it is `optional`; nor where a unit is no part of a character.
fn units(text: &[u8], width: usize, optional: bool, big: Option<bool>) -> Option<Vec<u8>> {
    let (little_mark, big_mark) = if width == 2 {
        (&b"\xff\xfe"[..], &b"\xfe\xff"[..])
    } else {
        (&b"\xff\xfe\0\0"[..], &b"\0\0\xfe\xff"[..])
    };
    let (big, text) = match (text.strip_prefix(little_mark), text.strip_prefix(big_mark), big) {
        (None, None, Some(big)) => (big, text),
        (None, None, None) if optional => (false, text),
        (Some(rest), _, None) => (false, rest),
        (_, Some(rest), None) => (true, rest),
        _ => return None,
    };
    let chunks = text.chunks_exact(width);
    if !chunks.remainder().is_empty() {
        return None;
    }
    let units = chunks.map(|unit| {
        let value = |value, byte: &u8| value << 8 | u32::from(*byte);
        if big { unit.iter().fold(0, value) } else { unit.iter().rev().fold(0, value) }
    });
    let characters: Option<String> = if width == 2 {
        char::decode_utf16(units.map(|unit| u16::try_from(unit).unwrap_or_default()))
            .collect::<Result<_, _>>()
            .ok()
    } else {
        units.map(char::from_u32).collect()
    };
    characters.map(String::into_bytes)
}

/// Whether files in this encoding are written as git writes them: in [`ISO`] and [`EXACT`], held to iconv character by
/// character, in [`WINDOWS`], by samples, and in those made here. Of the others of the web, iconv has other tables.
pub(super) fn is_written(encoding: &str) -> bool {
    wide(encoding).is_some() || is_utf8(encoding) || bytewise(encoding).is_some()
}

/// Whether it is what Git stores.
pub(super) fn is_utf8(encoding: &str) -> bool {
    ["utf-8", "utf8"].contains(&encoding.to_ascii_lowercase().as_str())
}

/// Encodings that have the same characters here as in iconv.
const EXACT: &[&str] = &["windows-1256", "cp1256", "koi8-r"];
/// The parts of ISO 8859 of which that is true, and their names by language.
const ISO: &[&str] = &["2", "3", "4", "5", "6", "7", "8", "10", "13", "14", "15", "16"];
const LATIN: &[(&str, &str)] = &[
    ("latin2", "2"),
    ("latin3", "3"),
    ("latin4", "4"),
    ("latin6", "10"),
    ("latin-9", "15"),
    ("latin9", "15"),
];
/// Those in which it is true but for control characters from U+0080: iconv has none.
const WINDOWS: &[&str] = &["1250", "1251", "1252", "1253", "1254", "1257"];

/// How characters become bytes, one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Bytewise {
    Ascii,
    /// By this encoding of the web.
    Exact(String),
    /// By this one, which has no control characters from U+0080.
    NoControls(String),
    /// By this one, which has other characters in their place.
    Controls(&'static str),
}

fn bytewise(encoding: &str) -> Option<Bytewise> {
    let name = encoding.to_ascii_lowercase();
    let part = ["iso-8859-", "iso8859-", "iso_8859-"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let part = part.or_else(|| LATIN.iter().find(|(latin, _)| *latin == name).map(|(_, part)| *part));
    let window = ["windows-", "cp"].iter().find_map(|prefix| name.strip_prefix(prefix));
    Some(match (name.as_str(), part, window) {
        ("ascii" | "us-ascii", ..) => Bytewise::Ascii,
        ("latin1" | "latin-1", ..) | (_, Some("1"), _) => Bytewise::Controls("windows-1252"),
        ("latin5", ..) | (_, Some("9"), _) => Bytewise::Controls("windows-1254"),
        (_, Some(part), _) if ISO.contains(&part) => Bytewise::Exact(format!("iso-8859-{part}")),
        (_, _, Some(number)) if WINDOWS.contains(&number) => {
            Bytewise::NoControls(format!("windows-{number}"))
        }
        (name, ..) if EXACT.contains(&name) => Bytewise::Exact(name.to_owned()),
        _ => return None,
    })
}

impl Bytewise {
    fn decode(&self, text: &[u8]) -> Option<Vec<u8>> {
        let label = match self {
            // The same in UTF-8, or no ASCII.
            Self::Ascii => return None,
            Self::Exact(label) | Self::NoControls(label) => label,
            Self::Controls(label) => *label,
        };
        let known = worktree::encoding::for_label(label).ok()?;
        let by_web = |text: &[u8]| {
            let (mut utf8, skip) = (Vec::new(), worktree::encode_to_git::RoundTripCheck::Skip);
            worktree::encode_to_git(text, known, &mut utf8, skip).ok().map(|()| utf8)
        };
        let is_control = |character: char| ('\u{80}'..='\u{9f}').contains(&character);
        match self {
            Self::Controls(_) => {
                let mut decoded = Vec::with_capacity(text.len());
                for piece in
                    text.chunk_by(|one, next| (0x80..=0x9f).contains(one) == (0x80..=0x9f).contains(next))
                {
                    if piece.first().is_some_and(|byte| (0x80..=0x9f).contains(byte)) {
                        decoded.extend(
                            piece.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes(),
                        );
                    } else {
                        decoded.extend(by_web(piece)?);
                    }
                }
                Some(decoded)
            }
            Self::NoControls(_) => by_web(text)
                .filter(|utf8| !std::str::from_utf8(utf8).is_ok_and(|text| text.contains(is_control))),
            _ => by_web(text),
        }
    }

    fn encode(&self, text: &str) -> Option<Vec<u8>> {
        let label = match self {
            Self::Ascii => return text.is_ascii().then(|| text.as_bytes().to_vec()),
            Self::Exact(label) | Self::NoControls(label) => label,
            Self::Controls(label) => *label,
        };
        let known = worktree::encoding::for_label(label).ok()?;
        let is_control = |character: char| ('\u{80}'..='\u{9f}').contains(&character);
        let by_web = |text: &str| {
            let mut encoded = Vec::new();
            worktree::encode_to_worktree(text.as_bytes(), known, &mut encoded).ok().map(|()| encoded)
        };
        match self {
            Self::NoControls(_) if text.contains(is_control) => None,
            Self::Controls(_) => {
                let mut encoded = Vec::with_capacity(text.len());
                for piece in text.split_inclusive(is_control) {
                    let plain = piece.trim_end_matches(is_control);
                    let bytes = by_web(plain)?;
                    if bytes.iter().any(|byte| (0x80..=0x9f).contains(byte)) {
                        return None;
                    }
                    encoded.extend(bytes);
                    encoded.extend(piece.chars().skip(plain.chars().count()).map(|control| control as u8));
                }
                Some(encoded)
            }
            _ => by_web(text),
        }
    }
}

/// `text` in this encoding; nothing where it is not known, cannot hold the text, or the text is not UTF-8.
pub(super) fn encode(encoding: &str, text: &[u8]) -> Option<Vec<u8>> {
    let Some(Wide { width, big, marked }) = wide(encoding) else {
        return bytewise(encoding)?.encode(std::str::from_utf8(text).ok()?);
    };
    let text = std::str::from_utf8(text).ok()?;
    let mark = if marked && !text.is_empty() { "\u{feff}" } else { "" };
    let mut encoded = Vec::with_capacity(text.len() * width);
    for character in mark.chars().chain(text.chars()) {
        if width == 4 {
            let unit = u32::from(character);
            encoded.extend(if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                encoded.extend(if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
            }
        }
    }
    Some(encoded)
}

struct Wide {
    /// Bytes of a unit.
    width: usize,
    big: bool,
    /// Whether a byte order mark comes first.
    marked: bool,
}

/// The order of bytes is the one of this machine where the name has none.
fn wide(encoding: &str) -> Option<Wide> {
    let name = encoding.to_ascii_lowercase();
    let form = name.strip_prefix("utf")?;
    let native = cfg!(target_endian = "big");
    let (width, big, marked) = match form.strip_prefix('-').unwrap_or(form) {
        "16" => (2, native, true),
        "16le-bom" => (2, false, true),
        "16le" => (2, false, false),
        "16be" => (2, true, false),
        "32" => (4, native, true),
        "32le" => (4, false, false),
        "32be" => (4, true, false),
        _ => return None,
    };
    Some(Wide { width, big, marked })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_to_the_same_text() {
        for encoding in ["UTF-16", "utf16le-bom", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "utf32be"] {
            let text = "h\u{e9}\u{1f600}\n".as_bytes();
            let encoded = encode(encoding, text).unwrap();
            assert_eq!(decode(encoding, &encoded), Decoded::Utf8(text.to_vec()), "{encoding}");
            assert_eq!(encode(encoding, b""), Some(Vec::new()), "{encoding}");
            assert_eq!(encode(encoding, b"\xff"), None, "{encoding}");
        }
        for other in [
            "UTF-16BE-BOM",
            "UTF-7",
            "cp437",
            "Shift-JIS",
            "SHIFT_JISX0213",
            "big5-hkscs",
            "latin7",
            "iso-8859-12",
        ] {
            assert!(!is_written(other) && encode(other, b"a").is_none(), "{other}");
        }
    }

    #[test]
    fn every_encoding_that_is_written_has_its_table_here() {
        let parts = ISO.iter().chain(&["1", "9"]).map(|part| format!("ISO-8859-{part}"));
        let windows = WINDOWS.iter().map(|number| format!("windows-{number}"));
        let names = LATIN.iter().map(|(name, _)| *name).chain(EXACT.iter().copied()).map(str::to_owned);
        for encoding in parts.chain(windows).chain(names) {
            assert!(is_written(&encoding), "{encoding}");
            assert_eq!(encode(&encoding, b"a\n"), Some(b"a\n".to_vec()), "{encoding}");
            assert_eq!(encode(&encoding, "\u{4e00}".as_bytes()), None, "{encoding}");
        }
        assert_eq!(encode("latin1", "\u{e9}\u{80}\u{9f}x".as_bytes()), Some(b"\xe9\x80\x9fx".to_vec()));
        assert_eq!(encode("latin1", "\u{20ac}".as_bytes()), None);
        assert_eq!(encode("cp1252", "\u{20ac}".as_bytes()), Some(b"\x80".to_vec()));
        assert_eq!(encode("cp1252", "\u{81}".as_bytes()), None);
        assert_eq!(encode("ascii", "\u{e9}".as_bytes()), None);
    }

    #[test]
    fn the_order_of_bytes_is_the_stated_one_and_marks_are_wanted_where_git_wants_them() {
        let text = |encoding: &str, text: &[u8]| match decode(encoding, text) {
            Decoded::Utf8(text) => String::from_utf8(text).unwrap(),
            other => format!("{other:?}"),
        };
        for (encoding, bytes, expected) in [
            ("UTF-16", &b"\xff\xfe\x3d\xd8\0\xde"[..], "\u{1f600}"),
            ("utf16", b"\xfe\xff\xd8\x3d\xde\0", "\u{1f600}"),
            ("UTF-16", b"a\0", "Unchanged"),
            ("UTF-16LE", b"a\0", "a"),
            ("UTF-16LE", b"\xff\xfea\0", "Unchanged"),
            ("UTF-16LE-BOM", b"a\0", "a"),
            ("UTF-16LE-BOM", b"\xfe\xff\0a", "a"),
            ("UTF-16BE", b"\0a", "a"),
            ("UTF-16BE", b"\0a\0", "Unchanged"),
            ("UTF-16BE", b"\xd8\0\0a", "Unchanged"),
            ("UTF-16BE-BOM", b"\xfe\xff\0a", "Unchanged"),
            ("UTF-32", b"\0\0\xfe\xff\0\x01\xf6\0", "\u{1f600}"),
            ("UTF-32", b"a\0\0\0", "Unchanged"),
            ("UTF-32LE", b"a\0\0\0", "a"),
            ("UTF-32LE", b"\0\0\x11\0", "Unchanged"),
            ("UTF-8", b"a", "Unchanged"),
            ("latin1", b"\xe9\x80\x9fa", "\u{e9}\u{80}\u{9f}a"),
            ("latin5", b"\xdd\x80", "\u{130}\u{80}"),
            ("latin9", b"\xa4", "\u{20ac}"),
            ("cp1252", b"\x80", "\u{20ac}"),
            ("cp1252", b"\x81", "Unchanged"),
            ("ascii", b"\xe9", "Unchanged"),
            ("SJIS", b"\x82\xa0", "\u{3042}"),
            ("UTF-7", b"a", "Unknown"),
            ("UTF-7", b"", "Unchanged"),
        ] {
            assert_eq!(text(encoding, bytes), expected, "{encoding} {bytes:?}");
        }
    }
}
