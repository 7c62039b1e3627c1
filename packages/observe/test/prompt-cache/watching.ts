import { Agent, type AgentOptions, type Middleware, type ModelRequest } from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { type ObservePromptCache, type PromptCacheOptions, promptCache } from '../../src/prompt-cache.ts'
import { type Layer, tool } from '../scene.ts'

export const lorem = (words: number, seed = 'text') => Array.from({ length: words }, (_, i) => `${seed}${i}`).join(' ')
export const calls = (name: string, at = 0): ScriptedStep => ({
  toolCalls: [{ name, args: { query: lorem(20, `q${at}`) } }],
})
export const search = tool('search', () => lorem(150, 'found'))
export const book = tool('book', () => lorem(80, 'booked'))
export const passing = (name: string): Middleware => ({ name, model: (_, next) => next() })

/** The layers stand between others, as in an application. */
export function watched(
  layers: readonly Layer[],
  steps: readonly ScriptedStep[],
  { watch, ...options }: Partial<AgentOptions> & { watch?: PromptCacheOptions } = {},
) {
  const model = scriptedModel(steps, { id: 'acme/m1' })
  const events: ObservePromptCache[] = []
  const warnings: string[] = []
  const logger = { warn: (text: string) => void warnings.push(text), error() {} }
  const more = { tools: [search, book], instructions: lorem(200, 'rule'), orderCheck: 'off' as const, logger }
  const agent = new Agent({ name: 'desk', model, clock: manualClock(), ...more, ...options })
  agent.use(passing('outer') as Middleware)
  for (const layer of layers) agent.use(layer as Middleware)
  agent.use(passing('inner') as Middleware).use(promptCache({ prices: priced, ...watch }))
  agent.on('observe:promptCache', (event) => void events.push(event))
  return { agent, model, events, warnings, session: agent.session({ id: 's' }) }
}

const priced = { 'acme/*': { input: 10, output: 20, cachedInput: 1 } }

/** The number of tokens that two requests have in common from the start, by their text. */
export function commonTokens(a: ModelRequest, b: ModelRequest): number {
  const [textOfA, textOfB] = [promptOf(a), promptOf(b)]
  let chars = 0
  while (chars < textOfA.length && textOfA[chars] === textOfB[chars]) chars++
  return chars / 4
}

function promptOf({ tools, messages }: ModelRequest): string {
  const defs = tools.map(({ name, description, jsonSchema }) => `${name}${description}${JSON.stringify(jsonSchema)}`)
  return [...defs, ...messages.map(({ role, content }) => role.padEnd(16) + textOf(content))].join('')
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as { text?: string; content?: unknown; name?: string; args?: object }[])
    .map(({ text, content: inner, name = '', args }) => text ?? (args ? name + JSON.stringify(args) : textOf(inner)))
    .join('')
}
