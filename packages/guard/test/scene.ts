import {
  Agent,
  type AgentOptions,
  type AgentRun,
  type AnyTool,
  type Middleware,
  type TypedMiddleware,
} from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'

// biome-ignore lint/suspicious/noExplicitAny: each test's tool knows its arguments
type Execute = (args: any) => unknown

export function tool(name: string, execute: Execute = () => `${name} ran`): AnyTool {
  return { name, description: `The tool ${name}`, jsonSchema: { type: 'object' }, execute }
}

/** A step in which the model calls tools, by name and arguments. */
export function calling(...calls: [name: string, args?: Record<string, unknown>][]): ScriptedStep {
  return { toolCalls: calls.map(([name, args = {}]) => ({ name, args })) }
}

/** An agent around layers, with a scripted model and tools that note what ran. */
export function scene(
  steps: readonly ScriptedStep[],
  layers: readonly (Middleware | TypedMiddleware<never>)[],
  { tools = [], ...options }: Partial<Omit<AgentOptions, 'tools'>> & { tools?: readonly string[] } = {},
) {
  const ran: [string, unknown][] = []
  const model = scriptedModel(steps)
  const made = tools.map((name) => tool(name, (args) => `${name} ${ran.push([name, args])}`))
  const log: string[] = []
  const note = (message: string) => void log.push(message)
  const agent = new Agent({ model, tools: made, logger: { warn: note, error: note }, ...options })
  for (const layer of layers) agent.use(layer as Middleware)
  return { agent, model, ran, log }
}

/** What the model was told of each call. */
export function told({ toolCalls }: { toolCalls: readonly { result: { content: unknown } }[] }): unknown[] {
  return toolCalls.map(({ result }) => result.content)
}

/** A text in two pieces, at each offset, and in single characters. */
export function splits(text: string): string[][] {
  const halves = Array.from({ length: text.length + 1 }, (_, i) => [text.slice(0, i), text.slice(i)])
  return [...halves.map((parts) => parts.filter((part) => part !== '')), text.split('')]
}

/** What a run showed, at any time, and what it came to. */
export async function watch(run: AgentRun<unknown>) {
  const events: unknown[] = []
  for await (const event of run) events.push(event)
  return { events, result: await run }
}
