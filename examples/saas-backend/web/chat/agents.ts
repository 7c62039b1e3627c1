import { getToolName, isToolUIPart, type UIMessage } from 'ai'
import type { History } from './history.ts'

type Part = UIMessage['parts'][number]

/** The agent that begins a conversation. */
const firstAgent = 'support'

/** Returns the agent that a part hands the conversation off to; undefined for other parts, and for a handoff that failed. */
export function handedOffTo(part: Part): string | undefined {
  if (!isToolUIPart(part) || getToolName(part) !== 'handoff' || part.state !== 'output-available') return undefined
  const { to } = (part.input ?? {}) as { to?: unknown }
  return typeof to === 'string' ? to : undefined
}

/** Returns the agent that answers after these messages; undefined if it was handed off before them, or never. */
export function lastAgent(messages: readonly UIMessage[]): string | undefined {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => handedOffTo(part) ?? [])).at(-1)
}

/** Returns the agent that each message begins with; undefined where a handoff that the page has not loaded decides it. */
export function firstAgents(messages: readonly UIMessage[], start: string | undefined): (string | undefined)[] {
  let agent = start
  return messages.map((message) => {
    const first = agent
    agent = lastAgent([message]) ?? agent
    return first
  })
}

/** Returns the agent that the loaded messages begin with. Earlier messages, which are not loaded, may have a handoff. */
export function startOf({ messages, before, agent }: History): string | undefined {
  if (before === undefined) return firstAgent
  return lastAgent(messages) === undefined ? agent : undefined
}

export function agentLabel(agent: string | undefined): string {
  return labels.get(agent ?? firstAgent) ?? 'Support'
}

const labels: ReadonlyMap<string, string> = new Map([
  ['support', 'Support'],
  ['billing', 'Billing'],
])
