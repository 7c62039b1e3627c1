import type { ToolContext } from '@allium/core'

/** Returns the tool's name; `(unknown)` for one that the model made up, because such names are unlimited and may contain anything. */
export function knownTool({ plan, tool }: Pick<ToolContext, 'plan' | 'tool'>): string {
  return plan.tools.some(({ name }) => name === tool.name) ? tool.name : '(unknown)'
}
