//! Credentials known by their form: the prefixes their issuers publish.
//!
//! In: a text. Out: where they stand. Never looks at what stands around them, but for the word `Bearer`.

use std::sync::OnceLock;

use regex::{Captures, Regex};

use crate::mask::span::{MARK, Span, is_mixed, span};

/// What a match must have beyond the form, where words have the form too.
#[derive(Clone, Copy)]
enum Look {
    Any,
    Digit,
    Mixed,
}

/// A known form of credential. The pattern is compiled only for a text that holds one of the triggers, since most hold none and
/// compiling them all would cost more than a whole command.
pub struct Shape {
    /// What it is, in words.
    pub kind: &'static str,
    /// Lower case.
    triggers: &'static [&'static str],
    /// The credential is the group 1, or the whole match.
    pattern: &'static str,
    look: Look,
    regex: OnceLock<Option<Regex>>,
}

/// A form that no word has.
pub const fn shape(
    kind: &'static str,
    triggers: &'static [&'static str],
    pattern: &'static str,
) -> Shape {
    Shape {
        kind,
        triggers,
        pattern,
        look: Look::Any,
        regex: OnceLock::new(),
    }
}

/// A form that a word may have as well.
const fn wordlike(
    kind: &'static str,
    look: Look,
    triggers: &'static [&'static str],
    pattern: &'static str,
) -> Shape {
    Shape {
        kind,
        triggers,
        pattern,
        look,
        regex: OnceLock::new(),
    }
}

/// Prefixes and lengths as the issuers publish them for secret scanning; lengths as lower bounds, since they have grown before.
static SHAPES: [Shape; 37] = [
    shape(
        "private key",
        &["private key"],
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?s:.)*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:[ \t\r\n\\nr]*[A-Za-z0-9+/=]{16,})*)",
    ),
    shape(
        "private key",
        &["age-secret-key-"],
        r"(?-u:\b)AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    ),
    shape(
        "aws key",
        &["akia", "asia", "abia", "acca"],
        r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
    ),
    shape(
        "github token",
        &["gh"],
        r"(?-u:\b)gh[opusr]_[A-Za-z0-9_]{30,}(?:\.[A-Za-z0-9_-]{16,}){0,2}",
    ),
    shape(
        "github token",
        &["github_pat_"],
        r"(?-u:\b)github_pat_[A-Za-z0-9_]{22,}",
    ),
    shape(
        "gitlab token",
        &["gl", "gr1348941"],
        r"(?-u:\b)(?:gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|agent|oas|imt|ffct|wt)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20,})",
    ),
    shape(
        "slack token",
        &["xox", "xapp-"],
        r"(?-u:\b)(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}",
    ),
    shape(
        "slack webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/+-]{20,})",
    ),
    shape("google key", &["aiza"], r"(?-u:\b)AIza[A-Za-z0-9_-]{35}"),
    shape(
        "google token",
        &["gocspx-", "ya29.", "1//0"],
        r"(?-u:\b)(?:GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{40,})",
    ),
    shape(
        "stripe key",
        &["k_live_", "k_test_"],
        r"(?-u:\b)[srp]k_(?:live|test)_[A-Za-z0-9]{10,}",
    ),
    shape(
        "webhook secret",
        &["whsec_"],
        r"(?-u:\b)whsec_[A-Za-z0-9+/=]{20,}",
    ),
    wordlike(
        "api key",
        Look::Mixed,
        &["sk-"],
        r"(?-u:\b)sk-[A-Za-z0-9_-]{20,}",
    ),
    shape("npm token", &["npm_"], r"(?-u:\b)npm_[A-Za-z0-9]{36,}"),
    wordlike(
        "pypi token",
        Look::Mixed,
        &["pypi-"],
        r"(?-u:\b)pypi-[A-Za-z0-9_-]{30,}",
    ),
    wordlike(
        "hugging face token",
        Look::Mixed,
        &["hf_"],
        r"(?-u:\b)hf_[A-Za-z0-9]{30,}",
    ),
    shape(
        "sendgrid key",
        &["sg."],
        r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    shape(
        "vault token",
        &["hvs.", "hvb."],
        r"(?-u:\b)hv[sb]\.[A-Za-z0-9_-]{24,}",
    ),
    shape(
        "aws key",
        &["absk"],
        r"(?-u:\b)ABSK[A-Za-z0-9+/]{100,}={0,2}",
    ),
    shape(
        "azure secret",
        &["q~"],
        r"(?-u:\b)[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}",
    ),
    shape(
        "azure signature",
        &["sig="],
        r"[?&]sig=([A-Za-z0-9%+/_-]{30,}=?)",
    ),
    shape(
        "discord webhook",
        &["/api/webhooks/"],
        r"/api/webhooks/[0-9]{10,}/([A-Za-z0-9_-]{30,})",
    ),
    shape(
        "telegram token",
        &[":aa"],
        r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}",
    ),
    shape(
        "mailgun key",
        &["key-"],
        r"(?-u:\b)key-[0-9a-f]{32}(?-u:\b)",
    ),
    shape(
        "mailchimp key",
        &["-us"],
        r"(?-u:\b)[0-9a-f]{32}-us[0-9]{1,2}(?-u:\b)",
    ),
    shape(
        "databricks token",
        &["dapi"],
        r"(?-u:\b)dapi[0-9a-f]{32}(?-u:\b)",
    ),
    shape(
        "terraform token",
        &[".atlasv1."],
        r"(?-u:\b)[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}",
    ),
    shape(
        "airtable token",
        &["pat"],
        r"(?-u:\b)pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?-u:\b)",
    ),
    shape(
        "registry token",
        &["cio", "oy2"],
        r"(?-u:\b)(?:cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43})(?-u:\b)",
    ),
    // Prefixes that words and names have too: what follows them is one run of letters and digits.
    wordlike(
        "api key",
        Look::Digit,
        &[
            "gsk_",
            "r8_",
            "pplx-",
            "xai-",
            "ntn_",
            "nfp_",
            "pcsk_",
            "rnd_",
            "sbp_",
            "pul-",
            "shp",
            "rubygems_",
        ],
        r"(?-u:\b)(?:gsk_|r8_|pplx-|xai-|ntn_|nfp_|pcsk_|rnd_|sbp_|pul-|shp(?:at|ss|ca|pa)_|rubygems_)[A-Za-z0-9]{30,}",
    ),
    wordlike(
        "api key",
        Look::Digit,
        &[
            "nrak-",
            "lin_api_",
            "lin_oauth_",
            "sntrys_",
            "sntryu_",
            "glsa_",
            "glc_",
            "ccipat_",
            "bkua_",
            "dp.",
            "atatt3x",
            "cfpat-",
            "pmak-",
            "tskey-",
            "hrku-",
            "figd_",
            "sq0",
            "pscale_",
            "lsv2_",
            "sb_secret_",
            "tvly-",
        ],
        r"(?-u:\b)(?:NRAK-|lin_(?:api|oauth)_|sntry[su]_|glsa_|glc_|CCIPAT_|bkua_|dp\.(?:pt|st|ct|sa|scim|audit)\.|ATATT3x|CFPAT-|PMAK-|tskey-[a-z]+-|HRKU-|figd_|sq0[a-z]{3}-|pscale_(?:tkn|pw|oauth)_|lsv2_(?:pt|sk)_|sb_secret_|tvly-)[A-Za-z0-9_=-]{20,}",
    ),
    shape(
        "password",
        &["machine"],
        r"(?i-u:\bmachine)[ \t\r\n]+[^ \t\r\n]+[ \t\r\n]+(?i-u:login)[ \t\r\n]+[^ \t\r\n]+[ \t\r\n]+(?i-u:password)[ \t\r\n]+([^ \t\r\n]+)",
    ),
    // A user and a password for a client on the command line.
    shape(
        "password",
        &["curl", "sshpass", "mysql"],
        r#"(?:(?-u:\b)curl[ \t][^\r\n]*?(?:-u|--user)(?:[ \t]+|=)["']?[^ \t\r\n:"'`$]{1,64}:|(?-u:\b)sshpass[ \t]+-p[ \t]*["']?|(?-u:\b)mysql(?:dump|admin)?[ \t][^\r\n]*?[ \t]-p["']?)([^ \t\r\n"'`$-][^ \t\r\n"'`]{3,})"#,
    ),
    shape(
        "token",
        &["dckr_", "dop_v1_", "doo_v1_", "dor_v1_"],
        r"(?-u:\b)(?:dckr_(?:pat|oat)_|do[opr]_v1_)[A-Za-z0-9_-]{20,}",
    ),
    shape(
        "jwt",
        &["eyj"],
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    ),
    wordlike(
        "bearer token",
        Look::Digit,
        &["bearer"],
        r"(?i-u:\bbearer)[ \t]+([A-Za-z0-9._~+/=-]{12,})",
    ),
    shape(
        "authorization",
        &["authorization"],
        r#"(?i-u:\bauthorization)\\?["']?[ \t]*[:=][ \t]*\\?["']?(?i-u:basic|bearer|token|apikey)[ \t]+([a-z._~-]*[A-Z0-9+/=][A-Za-z0-9._~+/=-]{5,})"#,
    ),
];

impl Look {
    fn has(self, value: &str) -> bool {
        match self {
            Look::Any => true,
            Look::Digit => value.bytes().any(|byte| byte.is_ascii_digit()),
            Look::Mixed => is_mixed(value),
        }
    }
}

impl Shape {
    /// Every match. `lower` is the text in lower case.
    pub fn matches<'t>(&self, text: &'t str, lower: &str) -> Vec<Captures<'t>> {
        if !self.triggers.iter().any(|trigger| lower.contains(trigger)) {
            return Vec::new();
        }
        // A test compiles every pattern, so the error is never met; it also keeps out classes that need Unicode tables, which the
        // tests have by way of their own dependencies and the program has not.
        let regex = self.regex.get_or_init(|| Regex::new(self.pattern).ok());
        regex
            .iter()
            .flat_map(|regex| regex.captures_iter(text))
            .collect()
    }
}

#[cfg(test)]
impl Shape {
    /// Fails unless the pattern compiles, also without Unicode tables.
    pub fn check(&self) {
        let regex = Regex::new(self.pattern);
        assert!(regex.is_ok(), "{regex:?}");
        let bare = self
            .pattern
            .replace(r"(?-u:\b)", "")
            .replace(r"(?i-u:\b", "(?i-u:");
        for class in [r"\s", r"\w", r"\d", r"\b", "(?i:", "(?i)", r"\p"] {
            assert!(!bare.contains(class), "{class} in {}", self.pattern);
        }
    }
}

/// Finds every credential of a known form.
pub fn find_shapes(text: &str, lower: &str, found: &mut Vec<Span>) {
    for shape in &SHAPES {
        for captures in shape.matches(text, lower) {
            let credential = captures.get(1).or_else(|| captures.get(0));
            // A mark of ours in the place of a value was a credential in an earlier sweep.
            let credential = credential.filter(|found| {
                shape.look.has(found.as_str()) && !found.as_str().contains(MARK.trim_end())
            });
            found.extend(credential.map(|found| span(found.range(), shape.kind)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for shape in &SHAPES {
            shape.check();
        }
    }
}
