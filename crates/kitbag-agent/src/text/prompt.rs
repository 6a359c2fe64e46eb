//! The system prompt: a text in which seven words in braces are replaced, and nothing else.

/// The prompt of an agent that is given none.
pub(super) const USUAL: &str = "You are a helpful assistant. Answer in the language of the user.";

/// What stands for each word.
pub(super) struct Words {
    pub(super) tools: String,
    pub(super) tool_instruction: String,
    pub(super) lookup_memory: String,
    pub(super) create_memory: String,
    pub(super) metadata: String,
    pub(super) provided_system: String,
}

impl Words {
    fn of(&self, name: &str) -> Option<String> {
        Some(match name {
            "tools" => self.tools.clone(),
            "tool_instruction" => self.tool_instruction.clone(),
            "memory" => joined("\n", [&self.lookup_memory, &self.create_memory]),
            "lookup_memory" => self.lookup_memory.clone(),
            "create_memory" => self.create_memory.clone(),
            "metadata" => self.metadata.clone(),
            "provided_system" => self.provided_system.clone(),
            _ => return None,
        })
    }
}

/// Whether a prompt says by itself where the tools of a memory stand.
pub(super) fn places_memory(template: &str) -> bool {
    ["{memory}", "{lookup_memory}", "{create_memory}"].iter().any(|word| template.contains(word))
}

/// The prompt with all words replaced. What was put in is not looked at again. After a prompt without any of the words
/// stands all that the model must know.
pub(super) fn rendered(template: &str, words: &Words) -> String {
    let mut prompt = String::with_capacity(template.len());
    let (mut rest, mut replaced) = (template, false);
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        prompt.push_str(before);
        let found = from[1..].find('}').and_then(|end| Some((words.of(&from[1..=end])?, end + 2)));
        match found {
            Some((value, length)) => {
                prompt.push_str(&value);
                rest = &from[length..];
                replaced = true;
            }
            None => {
                prompt.push('{');
                rest = &from[1..];
            }
        }
    }
    prompt.push_str(rest);
    if replaced {
        return prompt;
    }
    let parts = [&words.provided_system, &prompt, &words.metadata, &words.tool_instruction, &words.tools];
    joined("\n\n", parts)
}

fn joined<'a>(between: &str, parts: impl IntoIterator<Item = &'a String>) -> String {
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(between)
}
