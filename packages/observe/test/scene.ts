import {
  Agent,
  type AgentOptions,
  type AnyTool,
  type Middleware,
  type Session,
  type TypedMiddleware,
} from '@allium/core'
import { type ManualClock, manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'

// biome-ignore lint/suspicious/noExplicitAny: each test's tool knows its arguments
type Execute = (args: any) => unknown

export function tool(name: string, execute: Execute = () => `${name} ran`, more: Partial<AnyTool> = {}): AnyTool {
  return { name, description: `The tool ${name}`, jsonSchema: { type: 'object' }, execute, ...more } as AnyTool
}

/** A step in which the model calls tools, by name and arguments. */
export function calling(...calls: [name: string, args?: Record<string, unknown> | string][]): ScriptedStep {
  return { toolCalls: calls.map(([name, args = {}]) => ({ name, args })) }
}

// biome-ignore lint/suspicious/noExplicitAny: layers with whatever state
export type Layer = Middleware | TypedMiddleware<any>

/** An agent around layers, on a clock that stands still. */
export function scene(
  steps: readonly ScriptedStep[],
  layers: readonly Layer[],
  options: Partial<AgentOptions> & { clock?: ManualClock } = {},
) {
  const clock = options.clock ?? manualClock(Date.UTC(2026, 0, 1))
  const model = scriptedModel(steps)
  const log: string[] = []
  const note = (message: string) => void log.push(message)
  const agent = new Agent({ model, logger: { warn: note, error: note }, ...options, clock })
  for (const layer of layers) agent.use(layer as Middleware)
  return { agent, model, clock, log }
}

/** A human decides all calls that wait. */
export function decide(session: Session, decision: { approve: true } | { deny: string }) {
  return session.resume(Object.fromEntries(session.pending.map(({ callId }) => [callId, decision])))
}

/** Texts that break logs: line ends, terminals, marks of direction, halves of characters, ends of JSON. */
export const naughty = [
  'line\nbreak\r\nand\rmore',
  '\u001b[31mred\u001b[0m \u001b]8;;http://evil\u0007link',
  'next\u0085line\u2028separator\u2029paragraph',
  '\u202eright to left\u200b\ufeff',
  '\ud800half',
  '"}\n{"forged":true}',
  '\u0000\u007f\u009b31m',
  '\u{e0041}tag',
]
