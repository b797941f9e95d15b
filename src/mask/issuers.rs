//! The marks of issuers, as data: what a token starts with, what follows, and how much of it.
//!
//! One line for each mark, sorted by it (a test holds that). Prefixes and lengths are those which the issuers publish for secret scanning;
//! lengths are lower bounds, since they have grown before. Keys that are public by design (`pk_live_`, `phc_`) are not here.

use crate::mask::issuers::In::{Alnum, Base, Capital, Code, Dots, Hex, Lower, Url, Uuid, Word};
use crate::mask::issuers::Look::{Any, Digit, Mixed};

/// The characters that a token goes on with.
#[derive(Clone, Copy)]
pub enum In {
    /// `0-9 a-f A-F`
    Hex,
    /// `0-9 a-z`
    Lower,
    /// `0-9 A-Z`
    Capital,
    /// `0-9 A-Z a-z`
    Alnum,
    /// Those and `_`
    Word,
    /// Those and `-`, no `_`
    Code,
    /// Those of Base64 for URLs, and `=`
    Url,
    /// Those and `.`
    Dots,
    /// Those of Base64 of both kinds
    Base,
    /// `0-9 a-f A-F -`
    Uuid,
}

impl In {
    /// Whether a byte belongs to it.
    pub fn has(self, byte: u8) -> bool {
        let more: &[u8] = match self {
            Hex => return byte.is_ascii_hexdigit(),
            Lower => return byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Capital => return byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Uuid => return byte.is_ascii_hexdigit() || byte == b'-',
            Alnum => b"",
            Word => b"_",
            Code => b"-",
            Url => b"_-=",
            Dots => b"_-=.",
            Base => b"_-=+/",
        };
        byte.is_ascii_alphanumeric() || more.contains(&byte)
    }
}

/// What the rest must have beyond its length, where words start so too.
#[derive(Clone, Copy)]
pub enum Look {
    /// Nothing: no word starts so.
    Any,
    /// A digit.
    Digit,
    /// Digits and letters of both cases.
    Mixed,
}

/// One mark.
pub struct Issuer {
    pub mark: &'static str,
    pub rest: In,
    pub least: usize,
    /// No bound where 0.
    pub most: usize,
    pub look: Look,
    pub kind: &'static str,
}

const fn at_least(
    mark: &'static str,
    rest: In,
    least: usize,
    look: Look,
    kind: &'static str,
) -> Issuer {
    Issuer {
        mark,
        rest,
        least,
        most: 0,
        look,
        kind,
    }
}

const fn exactly(
    mark: &'static str,
    rest: In,
    least: usize,
    look: Look,
    kind: &'static str,
) -> Issuer {
    Issuer {
        mark,
        rest,
        least,
        most: least,
        look,
        kind,
    }
}

/// Every mark, sorted.
#[rustfmt::skip]
pub static ISSUERS: &[Issuer] = &[
    at_least("1//0", Url, 40, Mixed, "google token"),
    exactly("4b1d", Alnum, 38, Mixed, "api key"),
    at_least("A3-", Code, 30, Digit, "api key"),
    exactly("ABIA", Capital, 16, Any, "aws key"),
    at_least("ABSK", Base, 100, Any, "aws key"),
    exactly("ACCA", Capital, 16, Any, "aws key"),
    at_least("AGE-PLUGIN-", Code, 50, Digit, "private key"),
    at_least("AGE-SECRET-KEY-1", Capital, 50, Any, "private key"),
    at_least("AIza", Url, 35, Any, "google key"),
    at_least("AKCp", Alnum, 60, Mixed, "api key"),
    exactly("AKIA", Capital, 16, Any, "aws key"),
    at_least("APA91b", Url, 100, Any, "google key"),
    exactly("API-", Capital, 26, Digit, "api key"),
    at_least("AQVN", Url, 35, Mixed, "api key"),
    exactly("ASIA", Capital, 16, Any, "aws key"),
    at_least("ATATT3", Url, 50, Digit, "api key"),
    at_least("ATBB", Alnum, 24, Mixed, "api key"),
    at_least("ATCTT3", Url, 50, Digit, "api key"),
    at_least("ATSTT3", Url, 50, Digit, "api key"),
    at_least("Atza|", Dots, 60, Mixed, "api key"),
    at_least("Atzr|", Dots, 60, Mixed, "api key"),
    at_least("CCIPAT_", Word, 30, Digit, "api key"),
    at_least("CCIPRJ_", Word, 30, Digit, "api key"),
    at_least("CFPAT-", Url, 30, Digit, "api key"),
    at_least("CLOJARS_", Alnum, 50, Digit, "registry token"),
    at_least("EAA", Alnum, 80, Mixed, "api key"),
    at_least("EAAA", Url, 40, Mixed, "api key"),
    at_least("EZAK", Alnum, 50, Digit, "api key"),
    at_least("EZTK", Alnum, 50, Digit, "api key"),
    at_least("FLWSECK-", Code, 12, Digit, "api key"),
    at_least("FLWSECK_TEST-", Code, 12, Digit, "api key"),
    at_least("GOCSPX-", Url, 20, Any, "google token"),
    at_least("GR1348941", Url, 20, Any, "gitlab token"),
    at_least("HRKU-", Url, 30, Digit, "api key"),
    at_least("LTAI", Alnum, 16, Digit, "api key"),
    at_least("NRAK-", Code, 19, Digit, "api key"),
    at_least("NRII-", Url, 19, Digit, "api key"),
    at_least("NRIQ-", Url, 19, Digit, "api key"),
    at_least("NRJS-", Code, 19, Digit, "api key"),
    at_least("NRRA-", Url, 19, Digit, "api key"),
    at_least("NRSP-", Url, 19, Digit, "api key"),
    at_least("PMAK-", Code, 50, Digit, "api key"),
    at_least("SG.", Dots, 40, Digit, "sendgrid key"),
    exactly("SK", Hex, 32, Digit, "api key"),
    at_least("_gitlab_session=", Alnum, 32, Digit, "cookie"),
    at_least("access-development-", Uuid, 36, Digit, "api key"),
    at_least("access-production-", Uuid, 36, Digit, "api key"),
    at_least("access-sandbox-", Uuid, 36, Digit, "api key"),
    at_least("aio_", Alnum, 28, Digit, "api key"),
    at_least("amzn.mws.", Uuid, 36, Digit, "api key"),
    exactly("api-", Uuid, 36, Digit, "api key"),
    at_least("api_org_", Alnum, 30, Mixed, "hugging face token"),
    at_least("apify_api_", Alnum, 30, Digit, "api key"),
    at_least("bedrock-api-key-", Base, 40, Mixed, "aws key"),
    at_least("bkua_", Alnum, 30, Digit, "api key"),
    at_least("cal_live_", Alnum, 30, Digit, "api key"),
    at_least("cfat_", Word, 36, Digit, "api key"),
    at_least("cfk_", Word, 36, Digit, "api key"),
    at_least("cfut_", Word, 36, Digit, "api key"),
    exactly("cio", Alnum, 32, Digit, "registry token"),
    exactly("ck_", Hex, 40, Digit, "api key"),
    exactly("cmVmd", Alnum, 59, Mixed, "api key"),
    exactly("cs_", Hex, 40, Digit, "api key"),
    at_least("csk-", Alnum, 40, Digit, "api key"),
    exactly("dapi", Hex, 32, Any, "databricks token"),
    at_least("dckr_oat_", Url, 20, Any, "token"),
    at_least("dckr_pat_", Url, 20, Any, "token"),
    at_least("dnkey-", Url, 50, Digit, "api key"),
    at_least("doo_v1_", Url, 20, Any, "token"),
    at_least("dop_v1_", Url, 20, Any, "token"),
    at_least("dor_v1_", Url, 20, Any, "token"),
    at_least("dp.audit.", Dots, 20, Digit, "api key"),
    at_least("dp.ct.", Dots, 20, Digit, "api key"),
    at_least("dp.pt.", Dots, 20, Digit, "api key"),
    at_least("dp.sa.", Dots, 20, Digit, "api key"),
    at_least("dp.said.", Dots, 20, Digit, "api key"),
    at_least("dp.scim.", Dots, 20, Digit, "api key"),
    at_least("dp.st.", Dots, 20, Digit, "api key"),
    at_least("dt0c01.", Dots, 60, Digit, "api key"),
    at_least("dt0s01.", Dots, 60, Digit, "api key"),
    at_least("dt0s02.", Dots, 60, Digit, "api key"),
    at_least("dt0s06.", Dots, 60, Digit, "api key"),
    at_least("dt0s16.", Dots, 60, Digit, "api key"),
    at_least("duffel_live_", Url, 30, Digit, "api key"),
    at_least("duffel_test_", Url, 30, Digit, "api key"),
    at_least("e2b_", Hex, 30, Digit, "api key"),
    at_least("eyJrIjoi", Base, 60, Digit, "api key"),
    exactly("fc-", Hex, 32, Digit, "api key"),
    at_least("figd_", Url, 20, Digit, "api key"),
    at_least("figo_", Url, 20, Digit, "api key"),
    at_least("figu_", Url, 20, Digit, "api key"),
    at_least("fio-u-", Url, 50, Digit, "api key"),
    at_least("fm1a_", Base, 80, Mixed, "api key"),
    at_least("fm1r_", Base, 80, Mixed, "api key"),
    at_least("fm2_", Base, 80, Mixed, "api key"),
    at_least("fo1_", Url, 40, Digit, "api key"),
    at_least("fw_", Alnum, 20, Mixed, "api key"),
    at_least("ghc_", Word, 30, Any, "github token"),
    at_least("gho_", Word, 30, Any, "github token"),
    at_least("ghp_", Word, 30, Any, "github token"),
    at_least("ghr_", Word, 30, Any, "github token"),
    at_least("ghs_", Dots, 30, Any, "github token"),
    at_least("ghu_", Word, 30, Any, "github token"),
    at_least("github_pat_", Word, 22, Any, "github token"),
    at_least("glagent-", Dots, 20, Any, "gitlab token"),
    at_least("glc_", Base, 20, Digit, "api key"),
    at_least("glcbt-", Dots, 20, Any, "gitlab token"),
    at_least("gldt-", Dots, 20, Any, "gitlab token"),
    at_least("glffct-", Dots, 20, Any, "gitlab token"),
    at_least("glft-", Dots, 20, Any, "gitlab token"),
    at_least("glimt-", Dots, 20, Any, "gitlab token"),
    at_least("gloas-", Dots, 20, Any, "gitlab token"),
    at_least("glpat-", Dots, 20, Any, "gitlab token"),
    at_least("glptt-", Dots, 20, Any, "gitlab token"),
    at_least("glrt-", Dots, 20, Any, "gitlab token"),
    at_least("glrtr-", Dots, 20, Any, "gitlab token"),
    at_least("glsa_", Word, 20, Digit, "api key"),
    at_least("glsoat-", Dots, 20, Any, "gitlab token"),
    at_least("glwt-", Dots, 20, Any, "gitlab token"),
    at_least("gsk_", Alnum, 30, Digit, "api key"),
    at_least("hf_", Alnum, 30, Mixed, "hugging face token"),
    at_least("hvb.", Url, 24, Any, "vault token"),
    at_least("hvr.", Url, 24, Any, "vault token"),
    at_least("hvs.", Url, 24, Any, "vault token"),
    exactly("ico-", Alnum, 32, Digit, "api key"),
    at_least("jina_", Word, 40, Mixed, "api key"),
    exactly("key-", Hex, 32, Any, "mailgun key"),
    at_least("lin_api_", Alnum, 20, Digit, "api key"),
    at_least("lin_oauth_", Alnum, 20, Digit, "api key"),
    exactly("live_", Url, 40, Mixed, "api key"),
    at_least("lsv2_pt_", Word, 20, Digit, "api key"),
    at_least("lsv2_sk_", Word, 20, Digit, "api key"),
    at_least("mlsn.", Hex, 60, Digit, "api key"),
    at_least("napi_", Lower, 40, Digit, "api key"),
    at_least("nfp_", Alnum, 30, Digit, "api key"),
    at_least("npm_", Alnum, 36, Any, "npm token"),
    at_least("ntn_", Alnum, 30, Digit, "api key"),
    at_least("nvapi-", Url, 40, Mixed, "api key"),
    at_least("ops_", Base, 50, Mixed, "api key"),
    at_least("ory_ac_", Url, 30, Mixed, "api key"),
    at_least("ory_at_", Url, 30, Mixed, "api key"),
    at_least("ory_pat_", Alnum, 24, Mixed, "api key"),
    at_least("ory_rt_", Url, 30, Mixed, "api key"),
    exactly("oy2", Lower, 43, Digit, "registry token"),
    exactly("p8e-", Lower, 32, Digit, "api key"),
    at_least("pa-", Url, 40, Mixed, "api key"),
    at_least("pat-eu1-", Uuid, 36, Digit, "api key"),
    at_least("pat-na1-", Uuid, 36, Digit, "api key"),
    at_least("pat-na2-", Uuid, 36, Digit, "api key"),
    at_least("pat.", Dots, 60, Mixed, "api key"),
    at_least("pcsk_", Word, 30, Digit, "api key"),
    at_least("phx_", Alnum, 30, Digit, "api key"),
    at_least("pnu_", Alnum, 30, Digit, "api key"),
    at_least("pplx-", Alnum, 30, Digit, "api key"),
    at_least("pscale_oauth_", Dots, 20, Digit, "api key"),
    at_least("pscale_pw_", Dots, 20, Digit, "api key"),
    at_least("pscale_tkn_", Dots, 20, Digit, "api key"),
    at_least("pul-", Hex, 30, Digit, "api key"),
    at_least("pylf_v1_", Word, 30, Digit, "api key"),
    at_least("pypi-", Url, 30, Mixed, "pypi token"),
    at_least("r8_", Alnum, 30, Digit, "api key"),
    at_least("rdme_", Lower, 50, Digit, "api key"),
    at_least("re_", Word, 24, Mixed, "api key"),
    at_least("rk_live_", Alnum, 10, Any, "stripe key"),
    at_least("rk_prod_", Alnum, 10, Any, "stripe key"),
    at_least("rk_test_", Alnum, 10, Any, "stripe key"),
    at_least("rnd_", Alnum, 30, Digit, "api key"),
    at_least("rpa_", Alnum, 30, Digit, "api key"),
    at_least("rubygems_", Alnum, 30, Digit, "api key"),
    at_least("s-s4t2af-", Hex, 60, Digit, "api key"),
    at_least("s-s4t2ud-", Hex, 60, Digit, "api key"),
    exactly("s.", Alnum, 24, Mixed, "vault token"),
    at_least("sat.", Dots, 60, Mixed, "api key"),
    at_least("sb_secret_", Url, 20, Digit, "api key"),
    at_least("sbp_", Word, 30, Digit, "api key"),
    exactly("sdk-", Uuid, 36, Digit, "api key"),
    exactly("secret_", Alnum, 43, Mixed, "api key"),
    at_least("sess-", Alnum, 40, Mixed, "api key"),
    at_least("sgp_", Word, 40, Digit, "api key"),
    at_least("sha256~", Url, 40, Mixed, "token"),
    at_least("shippo_live_", Hex, 30, Digit, "api key"),
    at_least("shippo_test_", Hex, 30, Digit, "api key"),
    at_least("shpat_", Alnum, 30, Digit, "api key"),
    at_least("shpca_", Alnum, 30, Digit, "api key"),
    at_least("shppa_", Alnum, 30, Digit, "api key"),
    at_least("shpss_", Alnum, 30, Digit, "api key"),
    at_least("shpua_", Alnum, 30, Digit, "api key"),
    at_least("signkey-prod-", Hex, 30, Digit, "api key"),
    at_least("sk-", Url, 20, Mixed, "api key"),
    at_least("sk.", Dots, 60, Mixed, "api key"),
    at_least("sk_", Alnum, 29, Mixed, "api key"),
    at_least("sk_live_", Alnum, 10, Any, "stripe key"),
    at_least("sk_prod_", Alnum, 10, Any, "stripe key"),
    at_least("sk_test_", Alnum, 10, Any, "stripe key"),
    at_least("sl.", Dots, 60, Mixed, "api key"),
    at_least("sm_aat_", Alnum, 16, Digit, "api key"),
    at_least("sm_pat_", Alnum, 16, Digit, "api key"),
    at_least("sm_sat_", Alnum, 16, Digit, "api key"),
    at_least("sntrys_", Base, 20, Digit, "api key"),
    at_least("sntryu_", Base, 20, Digit, "api key"),
    at_least("sq0atp-", Url, 20, Digit, "api key"),
    at_least("sq0csp-", Url, 20, Digit, "api key"),
    at_least("sq0idp-", Url, 20, Digit, "api key"),
    at_least("sqa_", Alnum, 30, Digit, "api key"),
    at_least("sqp_", Alnum, 30, Digit, "api key"),
    at_least("squ_", Alnum, 30, Digit, "api key"),
    at_least("t1.", Dots, 80, Mixed, "api key"),
    at_least("tfp_", Dots, 30, Digit, "api key"),
    at_least("tgp_v1_", Url, 40, Mixed, "api key"),
    at_least("tk-us-", Url, 40, Mixed, "api key"),
    at_least("tr_dev_", Alnum, 20, Mixed, "api key"),
    at_least("tr_prod_", Alnum, 20, Mixed, "api key"),
    at_least("tskey-", Url, 20, Digit, "api key"),
    at_least("tvly-", Url, 20, Digit, "api key"),
    at_least("v1.0-", Code, 150, Digit, "api key"),
    at_least("vca_", Alnum, 24, Mixed, "api key"),
    at_least("vci_", Alnum, 24, Mixed, "api key"),
    at_least("vck_", Alnum, 24, Mixed, "api key"),
    at_least("vcp_", Alnum, 24, Mixed, "api key"),
    at_least("vcr_", Alnum, 24, Mixed, "api key"),
    at_least("vercel_blob_rw_", Word, 30, Mixed, "api key"),
    at_least("waka_", Uuid, 36, Digit, "api key"),
    at_least("whsec_", Base, 20, Any, "webhook secret"),
    at_least("xai-", Alnum, 30, Digit, "api key"),
    at_least("xapp-", Code, 10, Digit, "slack token"),
    at_least("xkeysib-", Code, 60, Digit, "api key"),
    at_least("xsmtpsib-", Code, 60, Digit, "api key"),
    at_least("y0_", Url, 50, Mixed, "api key"),
    at_least("y1_", Url, 50, Mixed, "api key"),
    at_least("y2_", Url, 50, Mixed, "api key"),
    at_least("ya29.", Dots, 20, Mixed, "google token"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_are_sorted_and_each_is_there_once() {
        for pair in ISSUERS.windows(2) {
            assert!(
                pair[0].mark < pair[1].mark,
                "{} {}",
                pair[0].mark,
                pair[1].mark
            );
        }
    }
}
