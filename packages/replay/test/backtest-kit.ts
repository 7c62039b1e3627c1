import { Agent, type AgentOptions, type AnyTool, type Usable } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryStore } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { type BacktestOptions, backtest } from '../src/backtest/index.ts'
import { record } from '../src/index.ts'
import { readRecordings } from '../src/recorded/index.ts'

/** The names of the tools that ran, in order. */
export const ran: string[] = []

function tool(name: string, more: Partial<AnyTool> = {}): AnyTool {
  return {
    name,
    description: name,
    jsonSchema: { type: 'object', properties: { amount: { type: 'number' } } },
    execute(args) {
      ran.push(name)
      return `${name} ${JSON.stringify(args)}`
    },
    ...more,
  }
}

export const toolsOf = (more: Partial<AnyTool> = {}) => [tool('search'), tool('refund', more)]

/** A step in which the model calls tools: `calls('search', 'refund')`. */
export function calls(...names: readonly (string | { name: string; args: object })[]): ScriptedStep {
  const toolCalls = names.map((one) => (typeof one === 'string' ? { name: one, args: { amount: 1 } } : one))
  return { toolCalls: toolCalls as never }
}

interface AgentParts extends Partial<AgentOptions> {
  readonly steps?: readonly ScriptedStep[]
  readonly layers?: readonly Usable[]
}

/** A new agent "support". Without steps its model must not be called. */
export function supportAgent({ steps = [], layers = [], ...options }: AgentParts = {}) {
  const logger = { warn() {}, error() {} }
  return new Agent({ name: 'support', model: scriptedModel(steps), tools: toolsOf(), logger, ...options }).use([
    ...layers,
  ])
}

/** Records the turns of an agent in a store, one for each input. */
export async function recordTurns(
  parts: AgentParts & { inputs?: readonly string[]; tenant?: string },
  store = memoryStore(),
) {
  const { inputs = ['hi'], tenant = 'acme', layers = [], ...options } = parts
  const agent = supportAgent({
    ...options,
    layers: [persist({ store }), record({ store: store.recordings }), ...layers],
  })
  const session = agent.session({ id: `chat-${tenant}`, principal: { tenantId: tenant, userId: 'dana' } })
  for (const input of inputs) await session.run(input)
  ran.length = 0
  return { store, session }
}

/** Runs the backtest of a changed agent on the recordings of a store. */
export async function tested(
  store: ReturnType<typeof memoryStore>,
  changed: AgentParts = {},
  more: Partial<BacktestOptions> = {},
) {
  const recordings = readRecordings({ recordings: store.recordings, sessions: store, agent: 'support' })
  return backtest({ agent: supportAgent(changed), recordings, ...more })
}
