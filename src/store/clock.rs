//! What the clock has shown to writers, day by day, so that no single look at a wrong one decides anything.
//!
//! In: the time of a look. Out: how far two looks at least a day apart vouch for the clock, and the day under which a write stands. Kept
//! as a few lines in the common dir (`seen/clock`). Whatever cannot be read counts as never seen, and then nothing is let go.

use super::base::Store;
use crate::record::Time;
use crate::repo::Access;

/// A day, in seconds.
const DAY: i64 = 86_400;
/// After so many days of looks a clock that went back is believed, and what was seen before is not held to any more.
const BACK_DAYS: i64 = 7;
/// With one look a day, the last but one or the one before it is at least a day old.
const MOST: usize = 3;
/// No file of ours is longer.
const LONGEST: u64 = 1024;

/// The looks since the clock last went back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The last looks, oldest first.
    looks: Vec<Time>,
    /// The first look since the clock last went back.
    since: Option<Time>,
    /// What was held to be the time when it went back.
    held: Option<Time>,
}

impl Clock {
    /// Whether there is nothing new about a look: one of the same day, or up to a day before the last one, is none.
    pub fn has_seen(&self, now: Time) -> bool {
        self.looks
            .last()
            .is_some_and(|last| last.day() == now.day() || *last >= now && last.0 - now.0 <= DAY)
    }

    /// Whether the clock shows more than a day less than at the last look.
    pub fn is_behind(&self, now: Time) -> bool {
        self.looks
            .last()
            .is_some_and(|last| last.0.saturating_sub(now.0) > DAY)
    }

    /// The last look.
    pub fn last(&self) -> Option<Time> {
        self.looks.last().copied()
    }

    /// The latest time that two looks at least a day apart vouch for, without the clock going back between them.
    pub fn vouched(&self) -> Option<Time> {
        let last = self.last()?;
        let mut before = self.looks.iter().rev();
        before
            .find(|look| last.0.saturating_sub(look.0) >= DAY)
            .copied()
    }

    /// With one more look.
    #[must_use]
    pub fn looked(mut self, now: Time) -> Self {
        if self.is_behind(now) {
            // Two looks were right, or else the one; of two beliefs the later one keeps more.
            self.held = self.held.max(self.vouched().or(self.last()));
            self.looks.clear();
            self.since = None;
        } else if self.has_seen(now) {
            return self;
        }
        let since = *self.since.get_or_insert(now);
        self.looks.push(now);
        let surplus = self.looks.len().saturating_sub(MOST);
        self.looks.drain(..surplus);
        let is_long = now.0.saturating_sub(since.0) >= BACK_DAYS * DAY;
        if is_long || self.held.is_some_and(|held| held <= now) {
            self.held = None;
        }
        self
    }

    /// The day under which something written now stands. A clock that went back would have it expire as soon as the clock is right
    /// again.
    fn day(&self, now: Time) -> String {
        let looked = self.clone().looked(now);
        looked.held.map_or(now, |held| held.max(now)).day()
    }

    fn text(&self) -> String {
        let line = |word: &str, time: &Time| format!("{word} {time}\n");
        let looks = self.looks.iter().map(|look| line("look", look));
        let since = self.since.iter().map(|since| line("since", since));
        let held = self.held.iter().map(|held| line("held", held));
        held.chain(since).chain(looks).collect()
    }

    /// None of a text that is damaged in any way.
    fn parse(text: &str) -> Option<Self> {
        let mut clock = Self::default();
        for line in text.lines() {
            let (word, time) = line.split_once(' ')?;
            let time = time.parse().ok()?;
            match word {
                "held" => clock.held = Some(time),
                "since" => clock.since = Some(time),
                "look" => clock.looks.push(time),
                _ => return None,
            }
        }
        let is_sorted = clock.looks.is_sorted();
        (is_sorted && clock.looks.len() <= MOST && text.ends_with('\n')).then_some(clock)
    }
}

/// The file in our own folder.
const NAME: &str = "seen/clock";

impl Store<'_> {
    /// What the clock has shown so far.
    pub fn clock(&self) -> Clock {
        let bytes = self.repo.cache().read(NAME, LONGEST).ok().flatten();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        text.and_then(|text| Clock::parse(&text))
            .unwrap_or_default()
    }

    /// Keeps what the clock has shown; whether that was possible.
    pub fn keep_clock(&self, clock: &Clock) -> bool {
        // Of two at once each writes its own, and the last one counts.
        let text = clock.text();
        let kept = self
            .repo
            .cache()
            .replace(NAME, text.as_bytes(), Access::Usual);
        kept.is_ok()
    }

    /// The day under which something written now stands.
    pub(super) fn day_of(&self, now: Time) -> String {
        self.clock().day(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: i64 = 1_796_040_000;

    fn seen(days: &[i64]) -> Clock {
        let looks = days.iter().map(|day| Time(START + day * DAY));
        looks.fold(Clock::default(), Clock::looked)
    }

    fn vouched(days: &[i64]) -> Option<i64> {
        seen(days).vouched().map(|time| (time.0 - START) / DAY)
    }

    #[test]
    fn one_look_vouches_for_nothing() {
        assert_eq!(vouched(&[]), None);
        assert_eq!(vouched(&[0]), None);
        assert_eq!(vouched(&[0, 1]), Some(0));
        assert_eq!(vouched(&[0, 91]), Some(0));
        assert_eq!(vouched(&[0, 91, 92]), Some(91));
        assert_eq!(vouched(&[0, 1, 91, 2]), None, "it went back");
        assert_eq!(vouched(&[0, 1, 91, 2, 92]), Some(2));
        assert_eq!(vouched(&[0, 1, 91, 2, 92, 3, 93]), Some(3));
    }

    #[test]
    fn a_day_apart_is_a_day_and_not_midnight() {
        let clock = Clock::default()
            .looked("2026-11-30T23:59:59Z".parse().expect("a time"))
            .looked("2026-12-01T00:00:01Z".parse().expect("a time"));
        assert_eq!(clock.vouched(), None);
        let clock = clock.looked("2026-12-02T00:00:00Z".parse().expect("a time"));
        assert_eq!(
            clock.vouched().map(Time::day).as_deref(),
            Some("2026-11-30")
        );
    }

    #[test]
    fn what_is_written_under_a_clock_that_went_back_stands_under_the_day_before_that() {
        let day = |days: &[i64], now: i64| seen(days).day(Time(START + now * DAY));
        let of = |day: i64| Time(START + day * DAY).day();
        assert_eq!(day(&[], -9999), of(-9999), "nothing is known");
        assert_eq!(day(&[0], -9999), of(0));
        assert_eq!(day(&[0, 1], 0), of(0), "a day is no jump");
        assert_eq!(day(&[0, 1, -9999], -9999), of(0));
        assert_eq!(day(&[0, 1, -9999, -9998], -9998), of(0));
        assert_eq!(day(&[0, 1, 91], 2), of(2), "one look ahead holds nobody");
        assert_eq!(day(&[0, 1, 91, 92, 93], 4), of(92));
        assert_eq!(
            day(&[0, 91, 92, 93, 4, 5, 6, 7, 8, 9, 10], 11),
            of(11),
            "after a week"
        );
    }

    #[test]
    fn whatever_is_damaged_was_never_seen() {
        let clock = seen(&[0, 1, -400, -399]);
        assert_eq!(Clock::parse(&clock.text()), Some(clock.clone()));
        for (bad, why) in [
            ("look 2026-11-30T12:00:00Z\nlook", "half a line"),
            ("look 2026-11-30T12:00:00Z", "no end"),
            (
                "look 2026-11-30T12:00:00Z\nlook 2026-11-29T12:00:00Z\n",
                "no order",
            ),
            ("2026-11-30\n", "the mark of an older version"),
            ("", "nothing"),
        ] {
            assert_eq!(Clock::parse(bad), None, "{why}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_vouched_for_that_was_not_seen_a_day_later(
            looks in prop::collection::vec(-200 * DAY..200 * DAY, 0..12),
        ) {
            let clock = looks.iter().map(|look| Time(START + look)).fold(Clock::default(), Clock::looked);
            if let Some(vouched) = clock.vouched() {
                let at = looks.iter().rposition(|look| START + look == vouched.0);
                prop_assert!(at.is_some_and(|at| looks[at..].iter().any(|look| START + look - vouched.0 >= DAY)));
            }
            prop_assert_eq!(Clock::parse(&clock.text()), (!looks.is_empty()).then_some(clock));
        }
    }
}
