//! Reads the query string of an address.

use crate::ApiProblem;

/// The parameters of a request, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub fn parse(raw: Option<&str>) -> Result<Self, ApiProblem> {
        let pairs = raw.unwrap_or_default().split('&').filter(|part| !part.is_empty());
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decoded(name)?, decoded(value)?))
        };
        pairs.map(pair).collect::<Result<_, _>>().map(Self)
    }

    /// Refuses parameters that the route does not have: a misspelt one would silently do nothing.
    pub fn only(&self, known: &[&str]) -> Result<(), ApiProblem> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                let name = punch_core::text::clip(name, 40);
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(ApiProblem::bad_request(format!("unknown parameter `{name}`; this address takes {known}")))
            }
        }
    }

    /// The last value of a parameter that is not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        let values = self.0.iter().rev().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        values.into_iter().next().filter(|value| !value.is_empty())
    }

    /// A whole number.
    pub fn number(&self, name: &str) -> Result<Option<u64>, ApiProblem> {
        let wrong = || ApiProblem::bad_request(format!("`{name}` must be a whole number"));
        self.text(name).map(|value| value.parse().map_err(|_| wrong())).transpose()
    }

    /// A whole number within limits; what is larger is cut to the limit.
    pub fn at_most(&self, name: &str, otherwise: usize, limit: usize) -> Result<usize, ApiProblem> {
        let given = self.number(name)?.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        Ok(given.unwrap_or(otherwise).min(limit))
    }

    /// True or false; absent is false.
    pub fn flag(&self, name: &str) -> Result<bool, ApiProblem> {
        match self.text(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(_) => Err(ApiProblem::bad_request(format!("`{name}` must be true or false"))),
        }
    }
}

/// Decodes `%41` and `+`.
fn decoded(raw: &str) -> Result<String, ApiProblem> {
    let wrong = || ApiProblem::bad_request("the address holds an invalid escape");
    let mut out = Vec::with_capacity(raw.len());
    let mut bytes = raw.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || bytes.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or_else(wrong);
                u8::try_from(digit()? * 16 + digit()?).map_err(|_| wrong())?
            }
            byte => byte,
        });
    }
    String::from_utf8(out).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_judged() {
        let query = Query::parse(Some("f=is%3Aready+p:1&limit=5&all=true&x&limit=7")).unwrap();
        assert_eq!(query.text("f"), Some("is:ready p:1"));
        assert_eq!(query.number("limit").unwrap(), Some(7), "the last one counts");
        assert_eq!(query.at_most("limit", 1, 6).unwrap(), 6);
        assert!(query.flag("all").unwrap() && !query.flag("x").unwrap());
        assert!(query.only(&["f", "limit", "all"]).is_err() && query.only(&["f", "limit", "all", "x"]).is_ok());
        assert!(query.number("f").is_err() && query.flag("f").is_err());
        for wrong in ["a=%4", "a=%zz", "a=%ff"] {
            assert!(Query::parse(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
