use super::{ConfigError, Settings, parse};

const BACKUPS: &str = "POLYMNEMO_BACKUP_RETENTION_DAYS";

/// A hundred years.
const MOST_DAYS: u32 = 36_500;

/// What receipts of erasures say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasingConfig {
    /// For how many days whoever runs the server keeps backups; absent where they make none.
    pub backup_days: Option<u32>,
}

impl ErasingConfig {
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let backup_days: Option<u32> = parse(settings, BACKUPS, "a number of days")?;
        if let Some(days) = backup_days
            && !(1..=MOST_DAYS).contains(&days)
        {
            return Err(ConfigError::new(
                BACKUPS,
                format!(
                    "{days} is out of range; give a number from 1 to {MOST_DAYS}, or nothing where no backups are made"
                ),
            ));
        }
        Ok(Self { backup_days })
    }
}
