//! What the page says was done.

use super::grouped;
use crate::api::changes::Deed;

/// What was done.
pub(crate) struct Notices {
    /// What, to how many memories, and how many it could not be done to.
    pub(crate) done: fn(Deed, u64, u64) -> String,
    pub(crate) undo: &'static str,
    pub(crate) dismiss: &'static str,
}

pub(super) const ENGLISH: Notices = Notices { done: in_english, undo: "Undo", dismiss: "Dismiss" };

pub(super) const CHINESE: Notices = Notices { done: in_chinese, undo: "撤销", dismiss: "关闭" };

fn in_english(deed: Deed, memories: u64, skipped: u64) -> String {
    let them = |verb: &str| {
        if memories == 1 { format!("1 memory {verb}.") } else { format!("{} memories {verb}.", grouped(memories)) }
    };
    let done = match deed {
        Deed::Remembered => "Remembered.".to_owned(),
        Deed::Known => "You already have this memory.".to_owned(),
        Deed::Saved => "Saved.".to_owned(),
        Deed::Unchanged => "Nothing to change.".to_owned(),
        Deed::Changed => them("changed"),
        Deed::Forgotten => them("forgotten"),
        Deed::Restored => them("restored"),
        Deed::Erased => them("erased for good"),
        Deed::Reverted => "Earlier text restored.".to_owned(),
        Deed::Undone => "Undone.".to_owned(),
        Deed::SessionRenamed => "Session renamed.".to_owned(),
        Deed::SessionMoved => "Session moved.".to_owned(),
        Deed::SessionForgotten => "Session forgotten.".to_owned(),
        Deed::UploadCancelled => "The upload was cancelled.".to_owned(),
    };
    match (memories, skipped) {
        (_, 0) => done,
        (0, 1) => "It could not be done.".to_owned(),
        (0, skipped) => format!("It could be done to none of the {} memories.", grouped(skipped)),
        (_, skipped) => format!("{done} {} could not be.", grouped(skipped)),
    }
}

fn in_chinese(deed: Deed, memories: u64, skipped: u64) -> String {
    let them = |verb: &str| format!("已{verb} {} 条记忆。", grouped(memories));
    let done = match deed {
        Deed::Remembered => "已记住。".to_owned(),
        Deed::Known => "这条记忆已经存在。".to_owned(),
        Deed::Saved => "已保存。".to_owned(),
        Deed::Unchanged => "没有需要修改的内容。".to_owned(),
        Deed::Changed => them("修改"),
        Deed::Forgotten => them("忘记"),
        Deed::Restored => them("恢复"),
        Deed::Erased => them("彻底删除"),
        Deed::Reverted => "已恢复早先的文本。".to_owned(),
        Deed::Undone => "已撤销。".to_owned(),
        Deed::SessionRenamed => "会话已重命名。".to_owned(),
        Deed::SessionMoved => "会话已移动。".to_owned(),
        Deed::SessionForgotten => "会话已忘记。".to_owned(),
        Deed::UploadCancelled => "已取消上传。".to_owned(),
    };
    match (memories, skipped) {
        (_, 0) => done,
        (0, skipped) => format!("{} 条记忆未能处理。", grouped(skipped)),
        (_, skipped) => format!("{done}另有 {} 条未能处理。", grouped(skipped)),
    }
}
