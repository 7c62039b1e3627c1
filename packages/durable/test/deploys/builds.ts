import { Agent, type Clock, type ModelRequest } from '@allium/core'
import { persist } from '@allium/memory'
import type { Ledger, SessionStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { agent as agentTool } from '@allium/tools'
import { type Effect, type Effects, layerOf, probe } from './layers.ts'

export type { Effect } from './layers.ts'

/** A build of the agent, as plain data. */
export interface Build {
  /** Names in `layers`. */
  readonly layers: readonly string[]
  /** The JSON Schema of the tools. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly requireApproval: boolean
  /** The name of the tool that mails. */
  readonly mail: string
  readonly model: string
  readonly instructions: string
  /** The description of the tool that pays. */
  readonly description: string
  readonly temperature: number
  readonly toolConcurrency: number
  readonly maxSteps: number
  /** Whether the model makes all tool calls at once. */
  readonly isParallel: boolean
  /** The sub-agent, which looks something up. */
  readonly helper?: Helper | undefined
}

export interface Helper {
  /** Names in `layers`. */
  readonly layers: readonly string[]
  /** The name of its tool. */
  readonly look: string
  readonly model: string
  readonly instructions: string
}

const calls = ['pay', 'mail'] as const

export const logger = { ...console, warn() {}, error() {} }

export interface AgentSetup extends Effects {
  readonly name: string
  readonly version?: string
  /** @default the sessions are not stored */
  readonly sessions?: SessionStore
  /** @default one in memory */
  readonly ledger?: Ledger | undefined
  readonly clock: Clock
  /** Called before each answer of the model. */
  onModel?(request: ModelRequest): unknown
}

/** An agent that pays, asks its sub-agent if it has one, then mails, then answers. */
export function agentOf(build: Build, setup: AgentSetup): Agent {
  const { name, version, sessions, clock, ledger } = setup
  const nameOf = (effect: string) => (effect === 'mail' ? build.mail : effect)
  const toolOf = (effect: string) => ({
    name: nameOf(effect),
    description: effect === 'pay' ? build.description : effect,
    jsonSchema: build.schema,
    requireApproval: build.requireApproval,
    async execute() {
      await setup.onEffect(effect)
      return 'done'
    },
  })
  const asks = build.helper === undefined ? [] : ['ask']
  const order = ['pay', ...asks, 'mail'].map((callId) => ({ name: nameOf(callId), callId, args: argsOf(callId) }))
  const agent = new Agent({
    name,
    clock,
    logger,
    model: modelOf(build.model, build.isParallel ? [order] : order.map((one) => [one]), setup),
    tools: calls.map(toolOf),
    instructions: build.instructions,
    settings: { temperature: build.temperature },
    toolConcurrency: build.toolConcurrency,
    maxSteps: build.maxSteps,
    ...(version !== undefined && { version }),
  })
  if (sessions !== undefined) agent.use(persist({ store: sessions }))
  for (const layer of build.layers) agent.use(layerOf(layer, { ...setup, ledger }))
  if (build.helper !== undefined)
    agent.use(agentTool({ agent: helperOf(build.helper, setup), name: 'ask', description: 'asks' }) as never)
  agent.use(probe(setup))
  return agent as unknown as Agent
}

function helperOf({ layers, look, model, instructions }: Helper, setup: AgentSetup): Agent {
  const execute = async () => {
    await setup.onEffect('look')
    return 'found'
  }
  const script = [[{ name: look, callId: 'look', args: {} }]]
  const helper = new Agent({
    name: 'helper',
    clock: setup.clock,
    logger,
    model: modelOf(model, script, {}),
    tools: [{ name: look, description: 'looks', jsonSchema: {}, execute }],
    instructions,
  })
  const inHelper = (effect: Effect) => (effect === 'look' ? effect : `${effect} of the helper`)
  const effects: Effects = {
    onEffect: (effect) => setup.onEffect(inHelper(effect)),
    onAsk: (effect) => setup.onAsk?.(inHelper(effect)),
  }
  for (const layer of layers) helper.use(layerOf(layer, effects))
  helper.use(probe(effects))
  return helper as unknown as Agent
}

const argsOf = (callId: string) => (callId === 'ask' ? { task: 'Look.' } : {})

interface ScriptedCall {
  readonly name: string
  readonly callId: string
  readonly args: object
}

function modelOf(id: string, steps: readonly (readonly ScriptedCall[])[], { onModel }: Pick<AgentSetup, 'onModel'>) {
  return {
    id,
    async *stream(request: ModelRequest) {
      await onModel?.(request)
      const toolCalls = steps[answersIn(request.messages)]
      yield* scriptedModel([toolCalls === undefined ? 'Done.' : ({ toolCalls } as never)]).stream(request)
    },
  }
}

function answersIn(messages: readonly { readonly role: string }[]): number {
  const start = messages.map(({ role }) => role).lastIndexOf('user')
  return messages.slice(start + 1).filter(({ role }) => role === 'assistant').length
}

/** The effects among the ids of recorded steps. */
export function effectsIn(steps: Iterable<string>): Set<Effect> {
  const found = [...steps].map((id): Effect | undefined => {
    const [, call] = /:tool:(pay|ask|mail|look):\d+$/.exec(id) ?? []
    if (call !== undefined) return call
    const [, judged] = /:once:(judge \w+|beside)(?: v2)?:1(?::tool:rate:\d+)?$/.exec(id) ?? []
    if (judged !== undefined) return judged
    const [, name] = /:once:.*?(welcome|receipt|stamp \w+|fee \d+)(?: v2)?:\d+$/.exec(id) ?? []
    return name === undefined || !/\/ask/.test(id) ? name : `${name} of the helper`
  })
  return new Set(found.filter((effect) => effect !== undefined))
}

/** Whether an effect leaves a result in the history. */
export function isCall(effect: Effect): boolean {
  return (calls as readonly Effect[]).includes(effect)
}
