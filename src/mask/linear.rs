//! Masking is linear: what each finder looks at grows with the text and no faster, whatever the text repeats.
//!
//! Counted in bytes looked at, so that a busy machine cannot fail it.

use super::mask;
use super::span::LOOKED_AT;

/// What the finders look for, in forms that never come to an end.
const FAMILIES: &[&str] = &[
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN ",
    "-----BEGIN CERTIFICATE-----\nMIIDXTCCAkWgAwIB\n",
    "-----END PRIVATE KEY-----",
    "password=",
    "password=\"",
    "password='\\\"",
    "\"password\": \"",
    "password: ",
    "password\n",
    "password:\n  ",
    "password is ",
    "<password>",
    "<password ",
    "<add key=\"password\" value=\"",
    "${password:-",
    "getenv(\"password\", ",
    "password = x || ",
    "x is the password ",
    "\"x\" == password ",
    "api key ",
    "Bearer ",
    "bearer a1b2c3d4e5f6.",
    "://a:",
    "://a:b/",
    "x://",
    "@",
    "Authorization:",
    "Authorization: Digest response=",
    "Cookie: sid=a1b2c3d4;",
    "eyJ",
    "eyJ.",
    "eyJhbGciOiJIUzI1NiJ9.",
    "eyJ-",
    "ZXlK+",
    "LS0tLS1CRUdJTi+",
    "glpat-",
    "ghs_a.",
    "xoxb-",
    "sk-",
    "12345678:A",
    "pat.",
    "aQ~",
    "?sig=",
    "Private-Lines:",
    "hooks.slack.com/services/",
    "curl -u ",
    "curl -u a:\"",
    "mysql -p",
    "machine a login b password ",
    "identified with by ",
    "auth=(\"",
    "auth('a', \"",
    "kind: Secret\n data:\n a: b\n",
    "ssh-rsa AAAA",
    "sha512-",
    ";base64,",
    "[",
    "{\"a\":",
    "((((",
    "\"",
    "'",
    "`",
    "\\",
    "\\\"",
    "&quot;",
    "a",
    "A1",
    "aB3/",
    "-",
    "_",
    "=",
    " ",
    "\n",
    "é",
];

fn looked_at(text: &str) -> usize {
    LOOKED_AT.with(|all| all.set(0));
    mask(text);
    LOOKED_AT.with(std::cell::Cell::get)
}

fn grows(small: usize, large: usize) -> Vec<String> {
    let mut steep = Vec::new();
    for family in FAMILIES {
        let each = |bytes: usize| {
            let text = family.repeat(bytes / family.len());
            looked_at(&text) as f64 / text.len() as f64
        };
        let (near, far) = (each(small), each(large));
        if far > near * 2.0 + 50.0 || far > 12_000.0 {
            steep.push(format!("{family:?}: {near:.0} and {far:.0} for each byte"));
        }
    }
    steep
}

#[test]
fn what_is_looked_at_grows_with_the_text() {
    let steep = grows(4 << 10, 32 << 10);
    assert!(steep.is_empty(), "{}", steep.join("\n"));
}

#[test]
#[ignore = "a minute without optimisation; the shorter form runs always"]
fn what_is_looked_at_grows_with_a_text_of_a_megabyte() {
    let steep = grows(64 << 10, 1 << 20);
    assert!(steep.is_empty(), "{}", steep.join("\n"));
}

#[test]
fn a_masked_text_is_masked_whatever_it_repeats() {
    for family in FAMILIES {
        let once = mask(&family.repeat(1500 / family.len()));
        assert_eq!(mask(&once.text).text, once.text, "{family:?}");
    }
}
