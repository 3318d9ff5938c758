//! Pages of the documentation whose tables come from a run, while their prose stays as it is written.

/// Puts a text between the markers `<!-- name -->` and `<!-- /name -->` of a page.
pub fn replace(page: &str, name: &str, text: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (head, rest) = page.split_once(&begin).ok_or_else(|| format!("the page has no `{}`", begin.trim()))?;
    let (_, tail) = rest.split_once(&end).ok_or_else(|| format!("the page has no `{end}`"))?;
    Ok(format!("{head}{begin}{}\n{end}{tail}", text.trim_end()))
}
