/// How much is read at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One conversation, or one line of a transcript, in bytes.
    pub element_bytes: usize,
    /// All that is unpacked, in bytes.
    pub total_bytes: u64,
    /// By how much a file in an archive may grow when it is unpacked.
    pub ratio: u64,
    /// Files in all archives and folders together.
    pub entries: usize,
    /// Folders in folders.
    pub depth: usize,
    /// One memory, in bytes: longer ones come in parts.
    pub memory_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            element_bytes: 64 << 20,
            total_bytes: 64 << 30,
            ratio: 400,
            entries: 100_000,
            depth: 32,
            memory_bytes: 900_000,
        }
    }
}
