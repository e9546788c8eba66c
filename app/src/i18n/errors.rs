//! What went wrong, in the language of the page.

use polymnemo_types::{ApiError, ErrorCode};

use super::{Language, language};

/// What to tell a person of an error.
///
/// The service says in English what happened and what to do. For readers of other languages the
/// page knows what it means where it happened (`refused`: the request was at fault), and here is
/// what it means anywhere.
pub(crate) fn explain(error: &ApiError, refused: Option<&'static str>) -> String {
    let at_fault = matches!(error.code, ErrorCode::InvalidInput | ErrorCode::Conflict | ErrorCode::NotFound);
    let here = refused.filter(|_| at_fault);
    here.or_else(|| anywhere(language(), error.code)).map_or_else(|| error.message.clone(), str::to_owned)
}

fn anywhere(language: Language, code: ErrorCode) -> Option<&'static str> {
    match language {
        Language::English => None,
        Language::Chinese => Some(match code {
            ErrorCode::InvalidInput => "填写的内容有误，请检查后重试。",
            ErrorCode::NotFound => "找不到这项内容，它可能已被删除。",
            ErrorCode::Conflict => "内容在此期间被修改过，没有保存。请重新加载页面后再试。",
            ErrorCode::NotSignedIn => "登录已失效，请重新登录后再试。",
            ErrorCode::TooLarge => "文本太长，没有保存。请分成几条。",
            ErrorCode::FileTooLarge => "文件太大，没有保存。",
            ErrorCode::Forbidden => "没有权限这样做。",
            ErrorCode::NotReady => "语言模型仍在加载，没有任何改动。请过几秒再试。",
            ErrorCode::Unavailable => "服务暂时不可用，没有任何改动。请稍后再试。",
            ErrorCode::Internal => "服务器内部出错，详情见服务器日志。没有任何改动。",
        }),
    }
}
