//! The table of credentials and of what only looks like one, each in the places where people paste it.
//!
//! Credentials are put together here, so that no file holds anything that a scanner would take for one.

use super::mask;

/// Characters of a sort, made up, always the same.
fn some(alphabet: &str, length: usize, seed: u32) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        letters[(state >> 16) as usize % letters.len()]
    };
    (0..length).map(|_| next()).collect()
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

fn word(length: usize, seed: u32) -> String {
    some(&format!("{UPPER}{LOWER}{DIGITS}"), length, seed)
}

fn hex(length: usize, seed: u32) -> String {
    some("0123456789abcdef", length, seed)
}

fn base64(length: usize, seed: u32) -> String {
    some(&format!("{UPPER}{LOWER}{DIGITS}+/"), length, seed)
}

fn url64(length: usize, seed: u32) -> String {
    some(&format!("{UPPER}{LOWER}{DIGITS}_-"), length, seed)
}

fn capital(length: usize, seed: u32) -> String {
    some(&format!("{UPPER}234567"), length, seed)
}

/// Tokens that carry their own mark: to be found wherever they stand. The name, and the whole of it.
fn marked() -> Vec<(&'static str, String)> {
    let jwt = format!("eyJ{}.eyJ{}.{}", word(33, 1), word(60, 2), url64(43, 3));
    vec![
        ("github classic", format!("ghp_{}", word(36, 4))),
        ("github oauth", format!("gho_{}", word(36, 5))),
        ("github user", format!("ghu_{}", word(36, 6))),
        ("github server", format!("ghs_{}", word(36, 7))),
        ("github server, long", format!("ghs_123456_{jwt}")),
        ("github refresh", format!("ghr_{}", word(76, 8))),
        (
            "github fine-grained",
            format!("github_pat_{}_{}", word(22, 9), word(59, 10)),
        ),
        ("gitlab", format!("glpat-{}", url64(20, 11))),
        (
            "gitlab routable",
            format!(
                "glpat-{}.01.{}",
                word(44, 12),
                some("abcdefgh0123456789", 9, 13)
            ),
        ),
        ("gitlab deploy", format!("gldt-{}", word(20, 14))),
        ("gitlab runner", format!("glrt-{}", word(20, 15))),
        ("gitlab registration", format!("GR1348941{}", word(20, 16))),
        ("aws key", format!("AKIA{}", capital(16, 17))),
        ("aws session", format!("ASIA{}", capital(16, 18))),
        ("aws bedrock", format!("ABSK{}", base64(128, 19))),
        ("gcp key", format!("AIza{}", url64(35, 20))),
        ("gcp client", format!("GOCSPX-{}", url64(28, 21))),
        ("gcp access", format!("ya29.{}", url64(120, 22))),
        ("gcp refresh", format!("1//0{}", url64(60, 23))),
        (
            "azure client",
            format!("{}8Q~{}", word(3, 24), word(34, 25)),
        ),
        (
            "azure devops",
            format!("{}AZDO{}", word(76, 26), word(4, 27)),
        ),
        (
            "slack bot",
            format!(
                "xoxb-{}-{}-{}",
                some(DIGITS, 12, 28),
                some(DIGITS, 12, 29),
                word(24, 30)
            ),
        ),
        (
            "slack user",
            format!("xoxp-{}-{}", some(DIGITS, 12, 31), hex(32, 32)),
        ),
        (
            "slack app",
            format!(
                "xapp-1-A{}-{}-{}",
                capital(10, 33),
                some(DIGITS, 13, 34),
                hex(64, 35)
            ),
        ),
        ("slack refresh", format!("xoxe.xoxp-1-{}", word(60, 36))),
        ("stripe", format!("sk_live_{}", word(24, 37))),
        ("stripe restricted", format!("rk_live_{}", word(99, 38))),
        ("stripe test", format!("sk_test_{}", word(24, 39))),
        ("stripe webhook", format!("whsec_{}", word(32, 40))),
        ("npm", format!("npm_{}", word(36, 41))),
        ("pypi", format!("pypi-AgEIcHlwaS5vcmc{}", url64(90, 42))),
        ("openai", format!("sk-{}", word(48, 43))),
        (
            "openai project",
            format!("sk-proj-{}T3BlbkFJ{}", url64(74, 44), url64(74, 45)),
        ),
        ("openai service", format!("sk-svcacct-{}", url64(100, 46))),
        ("anthropic", format!("sk-ant-api03-{}AA", url64(93, 47))),
        (
            "anthropic admin",
            format!("sk-ant-admin01-{}AA", url64(93, 48)),
        ),
        ("openrouter", format!("sk-or-v1-{}", hex(64, 49))),
        (
            "hugging face",
            format!("hf_{}", some(&format!("{UPPER}{LOWER}"), 34, 50)),
        ),
        ("groq", format!("gsk_{}", word(52, 51))),
        ("replicate", format!("r8_{}", word(37, 52))),
        ("xai", format!("xai-{}", word(80, 53))),
        ("perplexity", format!("pplx-{}", word(48, 54))),
        ("jwt", jwt),
        (
            "sendgrid",
            format!("SG.{}.{}", url64(22, 55), url64(43, 56)),
        ),
        ("mailgun", format!("key-{}", hex(32, 57))),
        ("mailchimp", format!("{}-us21", hex(32, 58))),
        (
            "telegram",
            format!("{}:AA{}", some(DIGITS, 10, 59), url64(33, 60)),
        ),
        (
            "discord",
            format!("MT{}.{}.{}", word(24, 61), url64(6, 62), url64(38, 63)),
        ),
        ("shopify", format!("shpat_{}", hex(32, 64))),
        ("square", format!("sq0csp-{}", url64(43, 65))),
        ("databricks", format!("dapi{}", hex(32, 66))),
        ("digitalocean", format!("dop_v1_{}", hex(64, 67))),
        ("docker", format!("dckr_pat_{}", url64(27, 68))),
        ("vault", format!("hvs.{}", url64(90, 69))),
        (
            "terraform",
            format!("{}.atlasv1.{}", word(14, 70), word(67, 71)),
        ),
        ("grafana", format!("glsa_{}_{}", word(32, 72), hex(8, 73))),
        ("new relic", format!("NRAK-{}", capital(27, 74))),
        ("linear", format!("lin_api_{}", word(40, 75))),
        ("notion", format!("ntn_{}", word(46, 76))),
        ("figma", format!("figd_{}", url64(40, 77))),
        ("airtable", format!("pat{}.{}", word(14, 78), hex(64, 79))),
        ("atlassian", format!("ATATT3xFfGF0{}", url64(180, 80))),
        ("postman", format!("PMAK-{}-{}", hex(24, 81), hex(34, 82))),
        ("doppler", format!("dp.pt.{}", word(43, 83))),
        ("planetscale", format!("pscale_tkn_{}", url64(43, 84))),
        ("supabase", format!("sbp_{}", hex(40, 85))),
        ("netlify", format!("nfp_{}", word(36, 86))),
        ("sentry", format!("sntryu_{}", hex(64, 87))),
        ("rubygems", format!("rubygems_{}", hex(48, 88))),
        ("crates.io", format!("cio{}", word(32, 89))),
        (
            "nuget",
            format!("oy2{}", some("abcdefghijklmnopqrstuvwxyz234567", 43, 90)),
        ),
        (
            "tailscale",
            format!("tskey-auth-{}-{}", word(17, 91), word(32, 92)),
        ),
        ("pulumi", format!("pul-{}", hex(40, 93))),
        ("heroku", format!("HRKU-AA{}", url64(58, 94))),
        ("age", format!("AGE-SECRET-KEY-1{}", capital(58, 95))),
        ("plain random", word(40, 96)),
    ]
}

/// Texts that call something a secret, with the part that has to go.
fn named() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |before: &str, secret: String, after: &str| {
        all.push((format!("{before}{secret}{after}"), secret));
    };
    for scheme in [
        "postgres",
        "postgresql+psycopg",
        "mysql",
        "mongodb+srv",
        "amqps",
        "rediss",
        "https",
        "ftp",
        "ssh",
    ] {
        add(
            &format!("{scheme}://app:"),
            "s3cr3t-pw".into(),
            "@db.example.invalid/x",
        );
    }
    add("redis://:", "hunter2hunter".into(), "@cache:6379/0");
    add(
        "https://oauth2:",
        word(20, 1),
        "@gitlab.example.invalid/a/b.git",
    );
    add(
        "https://x-access-token:",
        word(40, 2),
        "@github.example.invalid/a/b",
    );
    add(
        "Server=tcp:db,1433;User ID=sa;Password=",
        "Tr0ub4dor".into(),
        ";Encrypt=True",
    );
    add("Driver={SQL Server};UID=sa;PWD=", "letmein99".into(), ";");
    add(
        "jdbc:mysql://db/x?user=app&password=",
        "pa55phrase".into(),
        "&useSSL=false",
    );
    add(
        "host=db user=app password=",
        "opensesame".into(),
        " dbname=x",
    );
    add(
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=",
        format!("{}==", base64(86, 3)),
        ";EndpointSuffix=core.windows.net",
    );
    add(
        "Endpoint=sb://a.example.invalid/;SharedAccessKeyName=Root;SharedAccessKey=",
        format!("{}=", base64(43, 4)),
        "",
    );
    add(
        "https://a.blob.example.invalid/c?sv=2022-11-02&se=2030-01-01&sr=c&sp=rl&sig=",
        format!("{}%3D", word(43, 5)),
        "",
    );
    add(
        "https://hooks.slack.com/services/",
        format!("T{}/B{}/{}", capital(8, 6), capital(10, 7), word(24, 8)),
        "",
    );
    add(
        "https://discord.com/api/webhooks/123456789012345678/",
        url64(68, 9),
        "",
    );
    add(
        "machine api.example.invalid login me password ",
        "correcthorse".into(),
        "",
    );
    add(
        "machine api.example.invalid\n  login me\n  password ",
        "correcthorse".into(),
        "\n",
    );
    add("Authorization: Bearer ", url64(40, 10), "");
    add("Authorization: Basic ", "YWRtaW46aHVudGVyMg==".into(), "");
    add("-H 'Authorization: token ", hex(40, 11), "'");
    add(
        "'Proxy-Authorization': 'Basic ",
        "YWRtaW46aHVudGVyMg==".into(),
        "'",
    );
    add("X-Api-Key: ", hex(32, 12), "");
    add("PRIVATE-TOKEN: ", word(20, 13), "");
    add(
        "curl -u admin:",
        "hunter2!".into(),
        " https://example.invalid",
    );
    add(
        "curl --user 'admin:",
        "hunter2!".into(),
        "' https://example.invalid",
    );
    add("aws_secret_access_key = ", base64(40, 14), "");
    add(
        "AWS_SESSION_TOKEN=",
        format!("FwoGZXIvYXdzE{}==", base64(300, 15)),
        "",
    );
    add(
        "//registry.npmjs.org/:_authToken=",
        "0f8fad5b-d9cb-469f-a165-70867728950e".into(),
        "",
    );
    add("TWILIO_AUTH_TOKEN=", hex(32, 16), "");
    add("\"client_secret\": \"", url64(24, 17), "\"");
    add("SECRET_KEY = '", "django-insecure-#x9!w2".into(), "'");
    add("export DB_PASS=", "s3cr3t-pw".into(), "");
    add("PGPASSWORD=", "s3cr3t-pw".into(), " psql -h db");
    add("mysql -u root -p", "S3cr3tPw9".into(), " -e 'select 1'");
    add("sshpass -p ", "S3cr3tPw9".into(), " ssh host");
    add("passphrase: ", "correct-horse-7".into(), "");
    for kind in ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ", ""] {
        let body = format!("{}\n{}", base64(64, 18), base64(40, 19));
        add(
            "key:\n",
            format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"),
            "\n",
        );
    }
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
        base64(64, 20)
    );
    add("", pgp, "");
    let account = format!(
        "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n",
        base64(64, 21)
    );
    add(
        "{\"type\":\"service_account\",\"private_key\":\"",
        account,
        "\"}",
    );
    all
}

#[test]
fn a_marked_token_is_found_wherever_it_stands() {
    let mut kept = Vec::new();
    for (name, token) in marked() {
        for text in [
            token.clone(),
            format!("we use {token} for now"),
            format!("(it was {token})."),
            format!("`{token}`, and more"),
            format!("{{\"a\":\"{token}\",\"b\":1}}"),
            format!("first\n{token}\nlast"),
            format!("VALUE={token}"),
            format!("https://example.invalid/?t={token}&x=1"),
        ] {
            // No piece of it of any length that would help: twelve characters in a row.
            let masked = mask(&text).text;
            let pieces: Vec<char> = token.chars().collect();
            let is_left = pieces
                .windows(12.min(pieces.len()))
                .any(|piece| masked.contains(&piece.iter().collect::<String>()));
            if is_left || mask(&text).what.is_empty() {
                kept.push(format!("{name}: {text} -> {masked}"));
            }
        }
    }
    assert!(kept.is_empty(), "{} kept:\n{}", kept.len(), kept.join("\n"));
    assert!(marked().len() >= 40);
}

#[test]
fn what_a_text_calls_a_secret_is_found() {
    let mut kept = Vec::new();
    for (text, secret) in named() {
        for text in [
            text.clone(),
            format!("before {text} after"),
            format!("a\n{text}\nb"),
        ] {
            let masked = mask(&text);
            if masked.text.contains(secret.trim_end_matches("\\n")) || masked.what.is_empty() {
                kept.push(format!("{text} -> {}", masked.text));
            }
            // What stands around it is left, as far as a reader needs it.
            let host = text
                .split('@')
                .nth(1)
                .and_then(|rest| rest.split('/').next());
            if let Some(host) = host.filter(|host| host.ends_with(".invalid")) {
                assert!(masked.text.contains(host), "{}", masked.text);
            }
        }
    }
    assert!(kept.is_empty(), "{} kept:\n{}", kept.len(), kept.join("\n"));
}

#[test]
fn what_only_looks_like_one_is_left() {
    let made = [
        hex(40, 1),
        hex(64, 2),
        hex(40, 3).to_uppercase(),
        format!("commit {}", hex(40, 4)),
        format!("{}..{}", hex(40, 5), hex(40, 6)),
        format!("index {}..{} 100644", hex(7, 7), hex(7, 8)),
        format!("sha256:{}", hex(64, 9)),
        format!("node:20@sha256:{}", hex(64, 10)),
        format!("\"integrity\": \"sha512-{}==\"", base64(86, 11)),
        format!("integrity sha384-{}", base64(64, 12)),
        format!("checksum = \"{}\"", hex(64, 13)),
        format!("h1:{}=", base64(43, 14)),
        format!("SHA256:{}", base64(43, 15)),
        format!("md5 {}", hex(32, 16)),
        format!(
            "resolved \"https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#{}\"",
            hex(40, 17)
        ),
        format!("refs/score-local/records at {}", hex(40, 18)),
        format!(
            "/nix/store/{}-hello-2.12",
            some("0123456789abcdfghijklmnpqrsvwxyz", 32, 19)
        ),
        format!(
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} me@example.invalid",
            base64(43, 20)
        ),
        format!(
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB{} me@example.invalid",
            base64(300, 21)
        ),
        format!("data:image/png;base64,{}", base64(120, 22)),
        format!("-----BEGIN PUBLIC KEY-----\n{}", hex(64, 23)),
        format!("blake3-{}", hex(64, 24)),
        format!("01{}", some("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24, 25)),
    ];
    let plain = [
        "550e8400-e29b-41d4-a716-446655440000",
        "018F4C2E-7B3A-7CC1-9D2E-3F4A5B6C7D8E",
        "https://example.invalid/items/550e8400-e29b-41d4-a716-446655440000/edit",
        "urn:uuid:550e8400-e29b-41d4-a716-446655440000",
        "aGVsbG8gd29ybGQ=",
        "dGVzdA==",
        "the word Zm9vYmFy is foobar",
        "SGVsbG8sIFdvcmxkIQ==",
        "AbstractSingletonProxyFactoryBeanConfigurationListener2",
        "test_that_the_user_cannot_log_in_with_an_expired_token_v2",
        "use-the-very-long-kebab-case-name-for-this-component-2",
        "HTTPSConnectionPoolManagerWithRetryAndBackoff3Test",
        "MAX_NUMBER_OF_CONCURRENT_CONNECTIONS_PER_HOST_V2",
        "src/components/UserProfile/UserProfileHeader2.test.tsx",
        "dist/assets/index-BfE8kq2Z.js and dist/assets/vendor.3f2a9c1b.css",
        "C:\\Users\\Someone\\AppData\\Local\\Programs\\Python\\Python312",
        "git@github.com:org/repository.git",
        "ssh://git@example.invalid:2222/org/repo.git",
        "https://example.invalid:8443/path?page=2&sort=name#top",
        "someone.longname+tag2024@mail.example.invalid",
        "2026-11-30T12:34:56.789Z and 20261130T123456Z",
        "v1.2.3-rc.1+build.20261130.sha.5114f85",
        "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
        "00:1A:2B:3C:4D:5E, #ff8800, 0xDEADBEEFCAFEBABE",
        "ghcr.io/org/image:v1.2.3-alpine3.19",
        "^[A-Za-z0-9_-]{20,}$ and (?P<name>[a-z]+)",
        "std::collections::BTreeMap<RecordId, Vec<(RecordId, Anchor)>>",
        "password = os.environ[\"DB_PASSWORD\"]",
        "token: str | None = None",
        "def get_token(self, key: bytes) -> str:",
        "secret = config.get('secret')",
        "const apiKey = process.env.API_KEY;",
        "api_key: ${API_KEY}, password: {{ vault.password }}, token: <your token>",
        "api_key=YOUR_API_KEY_HERE password=changeme",
        "the secret of good code is to delete it",
        "tokens are bearer tokens; passwords are hashed with argon2id",
        "Bearer authentication and Basic authentication are both off",
        "the password must have 12 characters, of which 2 digits",
        "secret: rotate it every month; key: value pairs; token: opaque",
        "token_count=4096 max_tokens: 8192 keyboard=qwerty1 monkey=banana22",
        "curl -u \"$USER:$PASS\" https://example.invalid",
        "mysql -u root -p app_db",
        "machine learning login flow needs a password prompt",
        "primary_key=user_id2 foreign_key: account_id public_key=none",
        "sk-fading-circle and sk-learn, hf_hub_download, npm_config_registry, pul-request",
        "ghp_ is the prefix of a token, and so is glpat-",
        "key-value, key-down-event-handler-for-the-whole-document",
        "shpat_ NRAK- lin_api_ dapi_client figd_ sbp_flag",
        "cioppino12 oy2k paternoster.com pat1.example.invalid",
        "the AKIA prefix, AIza prefix, eyJ prefix",
        "CVE-2026-12345, RFC 7519, ISO-8859-1, UTF-16LE, SHA-512/256",
        "s3://bucket/key/with/2026/11/30/part-00000-of-00010.parquet",
        "arn:aws:iam::123456789012:role/service-role/MyLambdaRole2",
        "5a105e8b9d40e1329780d62ea2265d8a",
        "Co-authored-by: Some One <12345678+someone@users.noreply.github.com>",
        "Change-Id: I6a3e9f0c1b2d4e5f60718293a4b5c6d7e8f90a1b",
        "git-subtree-split: 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "llvm-svn: 375507, PiperOrigin-RevId: 512345678",
    ];
    let mut lost = Vec::new();
    for text in made.iter().map(String::as_str).chain(plain) {
        for text in [
            text.to_owned(),
            format!("see {text} there"),
            format!("(\"{text}\")"),
        ] {
            let masked = mask(&text);
            if masked.text != text {
                lost.push(format!("{text} -> {}", masked.text));
            }
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
    assert!(made.len() + plain.len() >= 40);
}
