import type { ToolContext } from '@allium/core'

/** The tool's name; for one that the model made up `(unknown)`: a model may make up any number, and put anything into them. */
export function knownTool({ plan, tool }: Pick<ToolContext, 'plan' | 'tool'>): string {
  return plan.tools.some(({ name }) => name === tool.name) ? tool.name : '(unknown)'
}
