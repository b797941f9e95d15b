//! Texts of public reports that masking got wrong, each under the name of its case, with its kind.

use super::mask;

/// A password that no scanner takes for one, and that stands in no other word.
const SECRET: &str = "pl0ver-Tan9";

/// Fails for each text that still holds the secret, and for one of which more than it is gone.
fn gone(texts: &[&str]) {
    for text in texts {
        let text = text.replace("SECRET", SECRET);
        let masked = mask(&text);
        assert!(!masked.text.contains(SECRET), "{text} -> {}", masked.text);
        let (before, after) = text.split_once(SECRET).expect("each text holds it");
        assert!(
            masked.text.starts_with(before) && masked.text.ends_with(after),
            "{text} -> {}",
            masked.text
        );
    }
}

fn left(texts: &[&str]) {
    for text in texts {
        assert_eq!(mask(text).text, *text);
    }
}

#[test]
fn f12_names_in_brackets_calls_and_defaults() {
    gone(&[
        r#"os.environ["DB_PASSWORD"] = "SECRET""#,
        "app.config['API_KEY'] = 'SECRET'",
        "$db['password'] = 'SECRET';",
        r#"os.getenv("API_TOKEN", "SECRET")"#,
        r#"setenv("DB_PASSWORD", "SECRET")"#,
        "password: ${DB_PASSWORD:SECRET}",
        "DB_PASSWORD=${DB_PASSWORD:-SECRET}",
        r#"key: "<%= ENV['APP_PASSWORD'] || 'SECRET' %>""#,
        "API_TOKEN ?= SECRET",
        r#"process.env.API_TOKEN ?? "SECRET""#,
        r#"ENV.fetch("DB_PASSWORD") { "SECRET" }"#,
        r#"std::env::var("DB_PASSWORD").unwrap_or("SECRET".into())"#,
    ]);
    left(&[
        r#"os.environ["DB_PASSWORD"]"#,
        "${API_KEY}",
        "config.get('secret')",
        r#"os.getenv("API_TOKEN", "")"#,
        "${DB_PASSWORD:}",
        "${X:-changeme}",
        "${DB_PASSWORD:?must be set}",
    ]);
}

#[test]
fn f14_a_quoted_value_with_blanks() {
    for text in [
        r#"{"password": "velvet tapir on toast"}"#,
        "password: 'velvet tapir on toast'",
        r#"passphrase: "velvet tapir on toast""#,
        r#"password = "velvet tapir on toast""#,
    ] {
        let masked = mask(text).text;
        assert!(
            !masked.contains("velvet") && !masked.contains("toast"),
            "{masked}"
        );
        assert!(masked.ends_with(&text[text.len() - 1..]), "{masked}");
    }
    left(&[
        "password: rotate it every month",
        r#""forgot_password": "Forgot your password?""#,
    ]);
}

#[test]
fn f16_every_authorization_header() {
    gone(&[
        "Authorization: Api-Token SECRET",
        "Authorization: SECRET",
        r#"-H "Authorization: GenieKey SECRET" https://h.invalid"#,
        "{'Authorization': 'Bearer SECRET'}",
        "Proxy-Authorization: Basic SECRET",
        "Cookie: theme=dark; sessionid=SECRET; lang=de",
        "Set-Cookie: sid=SECRET; Path=/; HttpOnly",
        "X-Api-Key: SECRET",
    ]);
    for text in [
        r#"Authorization: Token token="SECRET""#,
        r#"Authorization: Digest username="ada", realm="x", response="SECRET""#,
        "Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/r/s3/aws4_request, Signature=SECRET",
    ] {
        let masked = mask(&text.replace("SECRET", SECRET)).text;
        assert!(!masked.contains(SECRET), "{masked}");
    }
    left(&[
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "the Authorization header is required",
        "Cookie: theme=dark",
    ]);
}

#[test]
fn f18_databases_and_prose() {
    gone(&[
        "ALTER ROLE ada WITH PASSWORD 'SECRET'",
        "CREATE USER ada IDENTIFIED BY 'SECRET'",
        "SET PASSWORD FOR ada = 'SECRET'",
        "the password is SECRET",
        "password was SECRET until May",
        "the admin password `SECRET`",
        "password (SECRET)",
        "we set the password to SECRET",
        "# SECRET is the password",
    ]);
    left(&[
        "the password is hashed",
        "the token is opaque",
        "password (hashed)",
        "the token is RS256-signed",
        "the secret is 32-byte random data",
    ]);
}

#[test]
fn f20_a_token_in_the_place_of_the_user() {
    let token = "Ab3dE6gH1jK4mN7pQ0sT3vW6yZ9bC2eF5hJ8kL1n";
    let hex = "a4c1".repeat(10);
    for token in [token, &hex] {
        let masked = mask(&format!("git clone https://{token}@h.invalid/a/b")).text;
        assert_eq!(masked, "git clone https://[masked: token]@h.invalid/a/b");
    }
    left(&[
        "https://ada@h.invalid",
        "git@h.invalid:a/b",
        "https://build-bot-2024@h.invalid/a",
    ]);
}

#[test]
fn f22_what_is_no_credential_stays() {
    let line = "MIIDXTCCAkWgAwIBAgIJAKl3x8Yp2QmBMA0GCSqGSIb3DQEBCwUAMEUxCzAJBgNV";
    left(&[
        "use io.jsonwebtoken:jjwt-api:0.12.5 for it",
        "the plan is at https://docs.google.com/document/d/1W7KCxOxP-1Fy5EyF2lbJGE2WuKmu5v0suYqoHas1jRM",
        "https://www.figma.com/file/Ab3dE6gH1jK4mN7pQ0sT3v/Design?node-id=1-2",
        "orders hold price_1MoBy5LkdIwHu7ixZhnattbh only",
        "the banner /img/2018-250-xoxo-bird-1.jpg stays",
        &format!("-----BEGIN CERTIFICATE-----\n{line}\n{line}\n-----END CERTIFICATE-----"),
        &format!(
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{line}\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----"
        ),
        &format!("-----BEGIN CERTIFICATE-----\n{line}\n{line}"),
    ]);
    // Of any other link only the segment goes.
    let masked = mask("see https://h.invalid/share/Ab3dE6gH1jK4mN7pQ0sT3vW6yZ9bC2eF/view#top").text;
    assert_eq!(
        masked,
        "see https://h.invalid/share/[masked: random string]/view#top"
    );
}

#[test]
fn f5_repeated_openings_of_a_private_key_take_no_time() {
    let text = "-----BEGIN PRIVATE KEY-----".repeat(15_000);
    let masked = mask(&format!("{text} x"));
    assert_eq!(masked.what, ["private key"]);
    assert_eq!(masked.text, "[masked: private key] x");
    assert_eq!(mask(&masked.text).text, masked.text);
}
