//! Two lists of texts in `fixtures/mask/`, with a credential each and with none, and how many of them are taken right.
//!
//! Values are put in here, so that no file holds anything that a scanner would take for one: `{hex:32}` is that many made-up digits, `{pw}`
//! a password, `⏎` a line feed. What has to go stands between `«` and `»`. One half of each list was at hand while the rules were written;
//! the other half (`_held_out`) was measured once before it was read.

use super::mask;

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

struct Maker(u32);

impl Maker {
    fn some(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        let mut next = || {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(letters[(self.0 >> 16) as usize % letters.len()])
        };
        (0..length).map(|_| next()).collect()
    }

    /// What a name in braces stands for; none of the names is no value.
    fn value(&mut self, name: &str) -> Option<String> {
        let (sort, length) = name.split_once(':').unwrap_or((name, "0"));
        let length = length.parse().ok()?;
        let alphabet = match sort {
            "word" => format!("{UPPER}{LOWER}{DIGITS}"),
            "letter" => format!("{UPPER}{LOWER}"),
            "url" => format!("{UPPER}{LOWER}{DIGITS}_-"),
            "b64" => format!("{UPPER}{LOWER}{DIGITS}+/"),
            "hex" => "0123456789abcdef".to_owned(),
            "hexup" => "0123456789ABCDEF".to_owned(),
            "upper" => format!("{UPPER}{DIGITS}"),
            "cap" => format!("{UPPER}234567"),
            "lower" => format!("{LOWER}{DIGITS}"),
            "digit" => DIGITS.to_owned(),
            "pw" => {
                return Some(format!(
                    "{}-{}{}",
                    self.some(LOWER, 5),
                    self.some(UPPER, 1),
                    self.some(DIGITS, 3)
                ));
            }
            "lowpw" => return Some(self.some(LOWER, 9)),
            "uuid" => {
                let hex = "0123456789abcdef";
                let parts = [8, 4, 4, 4, 12].map(|length| self.some(hex, length));
                return Some(parts.join("-"));
            }
            _ => return None,
        };
        Some(self.some(&alphabet, length))
    }

    fn fill(&mut self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            text.push_str(&rest[..open]);
            let end = rest[open..].find('}').map(|end| open + end);
            match end.and_then(|end| Some((end, self.value(&rest[open + 1..end])?))) {
                Some((end, value)) => {
                    text.push_str(&value);
                    rest = &rest[end + 1..];
                }
                None => {
                    text.push('{');
                    rest = &rest[open + 1..];
                }
            }
        }
        text + rest
    }
}

/// The texts of a list, with the parts that have to go.
fn texts(list: &str) -> Vec<(String, Vec<String>)> {
    let mut maker = Maker(11);
    let lines = list.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let filled = maker.fill(&line.replace('⏎', "\n"));
            let secrets = filled
                .split('«')
                .skip(1)
                .filter_map(|part| part.split('»').next());
            let secrets = secrets.map(str::to_owned).collect();
            (filled.replace(['«', '»'], ""), secrets)
        })
        .collect()
}

/// The texts that still hold a credential whole, and what became of them.
fn kept(list: &str) -> Vec<String> {
    let mut kept = Vec::new();
    for (text, secrets) in texts(list) {
        assert!(!secrets.is_empty(), "{text}");
        let masked = mask(&text).text;
        assert_eq!(mask(&masked).text, masked, "{text}");
        if secrets
            .iter()
            .any(|secret| masked.contains(secret.as_str()))
        {
            kept.push(format!("{text}\n    -> {masked}"));
        }
    }
    kept
}

/// The texts of which something was taken that is no credential.
fn lost(list: &str) -> Vec<String> {
    let lost = texts(list).into_iter().filter_map(|(text, _)| {
        let masked = mask(&text).text;
        (masked != text).then(|| format!("{text}\n    -> {masked}"))
    });
    lost.collect()
}

#[test]
fn credentials_of_the_list_are_found() {
    let kept = kept(include_str!("../../fixtures/mask/credentials.txt"));
    assert!(kept.is_empty(), "{} kept:\n{}", kept.len(), kept.join("\n"));
}

#[test]
fn innocents_of_the_list_are_left() {
    let lost = lost(include_str!("../../fixtures/mask/innocents.txt"));
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}

#[test]
fn held_out() {
    let kept = kept(include_str!("../../fixtures/mask/credentials_held_out.txt"));
    assert!(kept.is_empty(), "{} kept:\n{}", kept.len(), kept.join("\n"));
}

#[test]
fn held_out_innocents() {
    let lost = lost(include_str!("../../fixtures/mask/innocents_held_out.txt"));
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}
