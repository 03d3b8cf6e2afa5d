//! Operations on agents.

pub(super) mod list;
pub(super) mod register;
pub(super) mod retire;

use super::Screen;
use crate::domain::Agent;

/// One agent, in two columns.
fn details(agent: &Agent, screen: &mut Screen) {
    let mut fields = vec![("agent", agent.id.to_string()), ("name", agent.name.clone())];
    fields.extend(agent.model.clone().map(|model| ("model", model)));
    if !agent.capabilities.is_empty() {
        fields.push(("capabilities", agent.capabilities.join(", ")));
    }
    fields.extend(agent.worktree.clone().map(|worktree| ("worktree", worktree)));
    fields.extend(agent.git_branch.clone().map(|branch| ("branch", branch)));
    fields.extend(agent.git_head.clone().map(|head| ("head", head)));
    fields.push(("registered", screen.ago(agent.registered_at)));
    screen.fields(fields);
}
