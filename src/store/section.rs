//! What the index keeps of one blob of records: which ids it has, and what its lines say, ready to be read without JSON.
//!
//! In: the records of a blob, each line sound. Out: two runs of bytes, and the same records back, unchanged. Bytes that are not sound
//! give nothing. Never reads a repository or a file.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{CommitId, ObjectId, RecordId};
use crate::record::{Anchor, Kind, Reasoning, Record, Source, Time};

/// One blob, encoded.
pub(super) struct Section {
    /// Ids of records, anchors, and the lines of tombstones: all that a write needs.
    pub ids: Vec<u8>,
    /// Every record: what a look-up needs.
    pub facts: Vec<u8>,
}

/// Bytes of one anchor among the ids: the record, the length of the commit's name (0: none), the name.
const ANCHOR: usize = 65;
/// How a record stands among the facts: as its line, or field by field for the two kinds that a memory is made of.
const LINE: u8 = 0;
const REASONING: u8 = 1;
const ANCHORING: u8 = 2;

/// Encodes the records of a blob, each with its id and its line.
pub(super) fn encode<'a>(
    records: impl Iterator<Item = (RecordId, &'a str, &'a Record)>,
) -> Section {
    let (mut known, mut anchors) = (BTreeSet::new(), BTreeSet::new());
    let mut stones = String::new();
    let mut facts = BTreeMap::new();
    for (id, line, record) in records {
        let mut out = Out(Vec::new());
        match record {
            Record::Anchor(anchor) => {
                let mut place = [0; ANCHOR];
                place[..32].copy_from_slice(anchor.of.as_bytes());
                if let Some(CommitId(commit)) = anchor.commit {
                    let name = commit.as_bytes();
                    place[32] = name.len() as u8;
                    place[33..33 + name.len()].copy_from_slice(name);
                }
                anchors.insert(place);
                out.0.push(ANCHORING);
                out.anchor(anchor);
            }
            Record::Reasoning(reasoning) => {
                known.insert(id);
                out.0.push(REASONING);
                out.reasoning(reasoning);
            }
            Record::Tombstone(_) => {
                stones.push_str(line);
                stones.push('\n');
                out.0.push(LINE);
                out.text(line);
            }
            Record::Session(_) | Record::Task(_) | Record::Outcome(_) => {
                known.insert(id);
                out.0.push(LINE);
                out.text(line);
            }
        }
        facts.insert(id, out.0);
    }
    let mut ids = Out(Vec::new());
    ids.number(known.len());
    ids.number(anchors.len());
    known
        .iter()
        .for_each(|id| ids.0.extend_from_slice(id.as_bytes()));
    anchors
        .iter()
        .for_each(|place| ids.0.extend_from_slice(place));
    ids.0.extend_from_slice(stones.as_bytes());
    let mut all = Out(Vec::new());
    for (id, fact) in &facts {
        all.0.extend_from_slice(id.as_bytes());
        all.0.extend_from_slice(fact);
    }
    Section {
        ids: ids.0,
        facts: all.0,
    }
}

impl Section {
    /// Of a blob with a line that this version cannot read: whoever wants to know what it holds reads it.
    pub(super) fn unreadable() -> Self {
        Self {
            ids: Vec::new(),
            facts: Vec::new(),
        }
    }
}

/// The ids of a blob.
pub(super) struct Ids {
    records: Vec<[u8; 32]>,
    anchors: Vec<[u8; ANCHOR]>,
    /// The lines of its tombstones.
    pub stones: String,
}

impl Ids {
    /// Of the bytes that [`encode`] made.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let mut rest = In(bytes);
        let (records, anchors) = (rest.number()?, rest.number()?);
        let records = rest.take(records.checked_mul(32)?)?.as_chunks().0;
        let anchors = rest.take(anchors.checked_mul(ANCHOR)?)?.as_chunks().0;
        let stones = std::str::from_utf8(rest.0).ok()?;
        Some(Self {
            records: records.to_vec(),
            anchors: anchors.to_vec(),
            stones: stones.to_owned(),
        })
    }

    /// Whether any of these records is there, or anchored there.
    pub(super) fn has_any(&self, wanted: &BTreeSet<RecordId>) -> bool {
        // The shorter list is gone through, and looked for in the longer one.
        if wanted.len() > self.records.len() + self.anchors.len() {
            let ids = self.records.iter().copied().map(RecordId::from);
            let anchored = self.anchors().map(|(of, _)| of);
            return ids.chain(anchored).any(|id| wanted.contains(&id));
        }
        wanted.iter().any(|id| {
            let id = id.as_bytes();
            let first = self.anchors.partition_point(|place| place[..32] < id[..]);
            let is_anchored = self
                .anchors
                .get(first)
                .is_some_and(|place| place[..32] == id[..]);
            is_anchored || self.records.binary_search(id).is_ok()
        })
    }

    /// Every anchor.
    pub(super) fn anchors(&self) -> impl Iterator<Item = (RecordId, Option<CommitId>)> + '_ {
        self.anchors.iter().filter_map(read_place)
    }
}

fn read_place(place: &[u8; ANCHOR]) -> Option<(RecordId, Option<CommitId>)> {
    let of = RecordId::from(*place.first_chunk()?);
    let commit = match usize::from(place[32]) {
        0 => None,
        len => Some(CommitId(
            ObjectId::from_bytes(place.get(33..33 + len)?).ok()?,
        )),
    };
    Some((of, commit))
}

/// The records of a blob, in the order of their ids.
pub(super) fn decode(facts: &[u8]) -> Option<Vec<(RecordId, Record)>> {
    if facts.is_empty() {
        return None;
    }
    let mut rest = In(facts);
    let mut records = Vec::new();
    while !rest.0.is_empty() {
        let id = rest.id()?;
        let record = match rest.byte()? {
            LINE => Record::decode(rest.text()?.as_bytes()).ok()?,
            REASONING => Record::Reasoning(rest.reasoning()?),
            ANCHORING => Record::Anchor(rest.anchor()?),
            _ => return None,
        };
        records.push((id, record));
    }
    Some(records)
}

/// Bytes to be filled. Every record is taken apart without a rest, so that a new field cannot be forgotten.
struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, number: usize) {
        let number = u32::try_from(number).expect("no blob of ours holds four billion of anything");
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a String>) {
        self.number(texts.len());
        texts.for_each(|text| self.text(text));
    }

    fn perhaps(&mut self, text: &Option<String>) {
        self.0.push(u8::from(text.is_some()));
        text.iter().for_each(|text| self.text(text));
    }

    fn object(&mut self, id: ObjectId) {
        let name = id.as_bytes();
        self.0.push(name.len() as u8);
        self.0.extend_from_slice(name);
    }

    fn reasoning(&mut self, reasoning: &Reasoning) {
        let Reasoning {
            source,
            kind,
            text,
            reasons,
            confidence,
            supersedes,
            nodes,
            session,
            task,
            key,
        } = reasoning;
        let kind = Kind::ALL.iter().position(|known| known == kind);
        self.0
            .push(kind.expect("every kind is among all of them") as u8);
        self.0.push(match source {
            Source::Session => 0,
            Source::Trailer => 1,
            Source::Commit => 2,
            Source::State => 3,
            Source::Adr => 4,
        });
        self.text(text);
        self.texts(reasons.iter());
        self.number(supersedes.len());
        supersedes
            .iter()
            .for_each(|id| self.0.extend_from_slice(id.as_bytes()));
        self.texts(nodes.iter());
        for text in [confidence, session, task, key] {
            self.perhaps(text);
        }
    }

    fn anchor(&mut self, anchor: &Anchor) {
        let Anchor {
            of,
            commit,
            time,
            nodes,
            objects,
            replaces,
            branch,
            worktree,
        } = anchor;
        self.0.extend_from_slice(of.as_bytes());
        self.number(commit.iter().len());
        commit.iter().for_each(|CommitId(id)| self.object(*id));
        self.0.extend_from_slice(&time.0.to_le_bytes());
        self.texts(nodes.iter());
        self.number(objects.len());
        for (path, object) in objects {
            self.text(path);
            self.object(*object);
        }
        self.number(replaces.len());
        replaces.iter().for_each(|CommitId(id)| self.object(*id));
        self.perhaps(branch);
        self.perhaps(worktree);
    }
}

/// Bytes to be read.
struct In<'a>(&'a [u8]);

impl<'a> In<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(*self.take(1)?.first()?)
    }

    fn number(&mut self) -> Option<usize> {
        let bytes = self.take(4)?;
        usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
    }

    fn id(&mut self) -> Option<RecordId> {
        Some(RecordId::from(*self.take(32)?.first_chunk()?))
    }

    fn object(&mut self) -> Option<ObjectId> {
        let len = self.byte()?;
        ObjectId::from_bytes(self.take(usize::from(len))?).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let len = self.number()?;
        std::str::from_utf8(self.take(len)?).ok()
    }

    fn owned(&mut self) -> Option<String> {
        self.text().map(str::to_owned)
    }

    fn perhaps(&mut self) -> Option<Option<String>> {
        match self.byte()? {
            0 => Some(None),
            _ => self.owned().map(Some),
        }
    }

    /// As many as the number says, each read so. A number that promises more than there are bytes reserves no room.
    fn all<T, C: FromIterator<T>>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<C> {
        let count = self.number()?;
        (0..count).map(|_| read(self)).collect()
    }

    fn reasoning(&mut self) -> Option<Reasoning> {
        let kind = *Kind::ALL.get(usize::from(self.byte()?))?;
        let source = match self.byte()? {
            0 => Source::Session,
            1 => Source::Trailer,
            2 => Source::Commit,
            3 => Source::State,
            4 => Source::Adr,
            _ => return None,
        };
        Some(Reasoning {
            source,
            kind,
            text: self.owned()?,
            reasons: self.all(Self::owned)?,
            supersedes: self.all(Self::id)?,
            nodes: self.all(Self::owned)?,
            confidence: self.perhaps()?,
            session: self.perhaps()?,
            task: self.perhaps()?,
            key: self.perhaps()?,
        })
    }

    fn anchor(&mut self) -> Option<Anchor> {
        Some(Anchor {
            of: self.id()?,
            commit: self.all::<_, Vec<_>>(Self::object)?.pop().map(CommitId),
            time: Time(i64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            nodes: self.all(Self::owned)?,
            objects: self.all(|rest| Some((rest.owned()?, rest.object()?)))?,
            replaces: self.all(|rest| rest.object().map(CommitId))?,
            branch: self.perhaps()?,
            worktree: self.perhaps()?,
        })
    }
}
