//! Operations on agents.

pub(super) mod list;
pub(super) mod register;
pub(super) mod retire;

use super::Screen;
use super::render::{dim, plain};
use crate::domain::Agent;

/// One agent, in two columns.
fn details(agent: &Agent, screen: &mut Screen) {
    let mut fields = vec![("agent", dim(agent.id)), ("name", plain(&agent.name))];
    fields.extend(agent.model.as_ref().map(|model| ("model", plain(model))));
    if !agent.capabilities.is_empty() {
        fields.push(("capabilities", plain(agent.capabilities.join(", "))));
    }
    fields.extend(agent.worktree.as_ref().map(|worktree| ("worktree", plain(worktree))));
    fields.extend(agent.git_branch.as_ref().map(|branch| ("branch", plain(branch))));
    fields.extend(agent.git_head.as_ref().map(|head| ("head", plain(head))));
    fields.push(("registered", plain(screen.ago(agent.registered_at))));
    screen.fields(fields);
}
