//! Making the changes of a document again.

use crate::Artifact;

/// How large a document may become.
const MOST: usize = 16 << 20;

/// How many bytes of documents are searched in one conversation, so that no export takes for ever.
pub(crate) const PATIENCE: usize = 256 << 20;

/// Puts `new` in place of `old` in a document: of the first one, or of all. Where that can't be done, the document stays an
/// older one than in the end.
pub(crate) fn replace(document: &mut Artifact, old: &str, new: &str, is_all: bool, patience: &mut usize) {
    let Some(left) = patience.checked_sub(document.content.len()) else {
        document.is_complete = false;
        return;
    };
    *patience = left;
    let count = match (old.is_empty(), is_all) {
        (true, _) => 0,
        (false, true) => document.content.matches(old).count(),
        (false, false) => usize::from(document.content.contains(old)),
    };
    let length = count.saturating_mul(new.len()).saturating_add(document.content.len());
    if length > MOST {
        // It was made to grow, and would go on to.
        *patience = 0;
    }
    if count == 0 || length > MOST {
        document.is_complete = false;
    } else {
        document.content = document.content.replacen(old, new, count);
    }
}
