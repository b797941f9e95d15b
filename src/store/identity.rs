//! What tells one session from another, and hides who an agent is: random bytes and a salt that stays on this machine.

use super::base::{Store, StoreError};
use crate::repo::Access;

impl Store<'_> {
    /// 32 random hexadecimal digits.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn nonce(&self) -> Result<String, StoreError> {
        let bytes: [u8; 32] = random()?;
        Ok(blake3::hash(&bytes).to_hex()[..32].to_owned())
    }

    /// An agent's name as a keyed hash, 16 hexadecimal digits. The key is the file `salt` in the common dir, made on first use
    /// with mode 0600: the same name gives the same hash here, and tells nothing elsewhere.
    ///
    /// # Errors
    /// When the salt cannot be read or made.
    pub fn agent_hash(&self, name: &str) -> Result<String, StoreError> {
        let salt = self
            .salt()
            .map_err(|error| StoreError::ReadOnly(format!("the salt: {error}")))?;
        Ok(blake3::keyed_hash(&salt, name.as_bytes()).to_hex()[..16].to_owned())
    }

    fn salt(&self) -> Result<[u8; 32], String> {
        const NAME: &str = "salt";
        let folder = self.repo.cache();
        let read = || {
            let bytes = folder.read(NAME, 1024).map_err(|error| error.to_string())?;
            let Some(bytes) = bytes else { return Ok(None) };
            // What comes after it was never looked at.
            let salt = bytes.first_chunk().copied().map(Some);
            salt.ok_or_else(|| "it is shorter than 32 bytes".to_owned())
        };
        if let Some(salt) = read()? {
            return Ok(salt);
        }
        let fresh: [u8; 32] = random().map_err(|error| error.to_string())?;
        let made = folder.create(NAME, &fresh, Access::Private);
        made.map_err(|error| error.to_string())?;
        // Of two processes that make one at once both read the same.
        read()?.ok_or_else(|| "it was removed as soon as it was made".to_owned())
    }
}

fn random() -> Result<[u8; 32], StoreError> {
    let mut bytes = [0; 32];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(StoreError::ReadOnly(format!("no randomness: {error}"))),
    }
}
