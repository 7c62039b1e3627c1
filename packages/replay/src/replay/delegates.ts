import type { ToolContext } from '@allium/core'

/** Set on a tool whose code only runs its agent, such as one of `tools.agent`. A replay enters it. */
const onlyDelegates = Symbol.for('allium:delegates')

/** Whether the tool of a call only delegates to an agent, so that its code may run: it has no effect of its own. */
export function delegatesOnly(ctx: ToolContext): boolean {
  const { $call: call } = ctx as { $call?: { registered?: { tool: { [onlyDelegates]?: boolean } } } }
  return call?.registered?.tool[onlyDelegates] === true
}
