//! What tells one session from another, and hides who an agent is: random bytes and a salt that stays on this machine.

use std::fs;
use std::io::{Read, Write};

use super::base::{Store, StoreError};

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

    fn salt(&self) -> std::io::Result<[u8; 32]> {
        let directory = self.repo.cache_dir();
        let path = directory.join("salt");
        let mut salt = [0; 32];
        match fs::File::open(&path) {
            Ok(mut file) => {
                file.read_exact(&mut salt)?;
                return Ok(salt);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        fs::create_dir_all(&directory)?;
        let fresh: [u8; 32] = random().map_err(std::io::Error::other)?;
        // Linked into place, so that of two processes that make one at once both read the same.
        let temporary = directory.join(format!("salt.{}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&temporary)?.write_all(&fresh)?;
        let linked = fs::hard_link(&temporary, &path);
        fs::remove_file(&temporary)?;
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        fs::File::open(&path)?.read_exact(&mut salt)?;
        Ok(salt)
    }
}

fn random() -> Result<[u8; 32], StoreError> {
    let mut bytes = [0; 32];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(StoreError::ReadOnly(format!("no randomness: {error}"))),
    }
}
