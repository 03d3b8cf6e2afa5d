//! Paths as git prints them with `core.quotePath=true`.

/// `prefix` and `path` as one name, in quotes where a byte of it needs them.
pub(super) fn quoted(prefix: &str, path: &[u8]) -> Vec<u8> {
    let mut name = prefix.as_bytes().to_vec();
    if path.iter().all(|byte| is_plain(*byte)) {
        name.extend_from_slice(path);
        return name;
    }
    name.insert(0, b'"');
    for byte in path {
        match byte {
            7 => name.extend(b"\\a"),
            8 => name.extend(b"\\b"),
            b'\t' => name.extend(b"\\t"),
            b'\n' => name.extend(b"\\n"),
            11 => name.extend(b"\\v"),
            12 => name.extend(b"\\f"),
            b'\r' => name.extend(b"\\r"),
            b'"' | b'\\' => name.extend([b'\\', *byte]),
            byte if is_plain(*byte) => name.push(*byte),
            byte => name.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    name.push(b'"');
    name
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_quoted_as_in_c_where_they_must_be() {
        for (path, name) in [
            (b"plain name".as_slice(), "a/plain name"),
            (b"tab\tquote\"back\\slash", r#""a/tab\tquote\"back\\slash""#),
            (b"\xc3\xa4\x01\x7f", r#""a/\303\244\001\177""#),
            (b"\x07\x08\x0b\x0c\r\n", r#""a/\a\b\v\f\r\n""#),
        ] {
            assert_eq!(String::from_utf8(quoted("a/", path)).unwrap(), name);
        }
    }
}
