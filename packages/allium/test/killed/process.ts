import { type AnyTool, type Message, type Model, type ModelChunk, textOf } from '@allium/core'
import { Agent } from '../../src/index.ts'
import * as tools from '../../src/tools.ts'
import { ProcessClock } from './clock.ts'
import { layersOf } from './layers.ts'
import type { Plan, PlannedCall } from './plan.ts'
import { accounts, type World } from './world.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A process: its agents, layers, caches and clock are new. */
export function boot(plan: Plan, world: World, now: number, journaled = true) {
  const clock = new ProcessClock(now)
  const setup = { clock, logger: silent, ids: () => 'x', orderCheck: 'off' } as const
  const did = world.deeds
  const parts = { plan, world, did, clock, model: (name: string) => modelOf(name, plan, did, clock) }
  const child = new Agent({ ...setup, name: 'child', model: parts.model('child') }).use(layersOf(plan.inner, parts))
  const agent = new Agent({
    ...setup,
    model: parts.model('main'),
    tools: toolsOf(plan, did, clock),
    maxSteps: 8,
    instructions: () => moodOf(plan, world),
  })
    .use(layersOf(plan.layers, parts))
    .use(tools.agent({ agent: child, description: 'Asks the child', timeout: 3_000_000 }))
  // Also for a sub-agent that inherits its budget.
  agent.on('guard:budget:cut', ({ calls }) => {
    for (const { account, amount } of calls) if (accounts.includes(account)) world.cut += amount
  })
  const session = agent.session({ id: journaled ? 's' : 'before', principal: { tenantId: 't', userId: 'u' } })
  const options = journaled ? { turnId: 'turn', journal: world.journal } : {}
  return { clock, session, run: () => session.run('Go on, I am ada@example.org.', options) }
}

export type Process = ReturnType<typeof boot>

type Did = World['deeds']

/** Answers by what it is asked, whichever process asks; fails at first as the plan says. */
function modelOf(id: string, { steps, fails, layers }: Plan, did: Did, clock: ProcessClock): Model {
  const repeats = id === 'main' && (layers.includes('retry') || layers.includes('fallback'))
  return {
    id,
    async *stream({ messages }): AsyncGenerator<ModelChunk> {
      const place = placeIn(messages)
      const mood =
        id === 'main' ? `${textOf(messages.find(({ role }) => role === 'system') ?? nothing).slice(0, 10)} ` : ''
      const nth = await did(`model ${id} ${place.asked} ${place.step}`)
      await clock.wait(5)
      yield { type: 'text-delta', delta: `${id} ${place.step} ` }
      if (nth < (repeats && place.step % 2 === 0 ? fails : 0))
        throw Object.assign(new Error('overloaded'), { status: 503 })
      yield { type: 'text-delta', delta: `${mood}says so.` }
      const calls = id === 'child' ? [] : (steps[place.step] ?? [])
      for (const [i, { name, arg }] of calls.entries()) {
        const callId = `c${place.step}-${i}`
        yield { type: 'tool-input-start', callId, name }
        yield { type: 'tool-input-delta', callId, delta: JSON.stringify({ task: arg }) }
        yield { type: 'tool-input-end', callId }
      }
      const usage = { inputTokens: 10, outputTokens: 5 }
      yield { type: 'finish', reason: calls.length > 0 ? 'tool-calls' : 'stop', usage }
    },
  }
}

const nothing: Message = { role: 'system', content: '' }

/** Another one where it is asked for again: what was said first stands. */
function moodOf({ seed }: Plan, { recorded }: World): string {
  return (seed % 2 === 0) === recorded.some((id) => id.endsWith(':once:instructions:1')) ? 'Be merry.' : 'Be grave.'
}

/** What was asked last, and how many answers it has got. */
function placeIn(messages: readonly Message[]): { asked: string; step: number } {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const asked = messages[at]
  const step = messages.slice(at + 1).filter(({ role }) => role === 'assistant').length
  return {
    asked:
      asked === undefined
        ? ''
        : textOf(asked)
            .slice(0, 200)
            .replaceAll(/\[EMAIL:\w+/g, '[EMAIL'),
    step,
  }
}

function toolsOf({ steps, fails }: Plan, did: Did, clock: ProcessClock): AnyTool[] {
  const planned = (name: string, arg: string) =>
    steps.flat().find((call) => call.name === name && call.arg === arg) as PlannedCall
  return (['look', 'work', 'flaky'] as const).map((name) => ({
    name,
    description: name,
    jsonSchema: {},
    async execute(args: unknown) {
      const { task } = args as { task: string }
      const nth = await did(`tool ${name} ${task}`)
      await clock.wait(planned(name, task).takes)
      if (name === 'flaky' && nth < fails) throw Object.assign(new Error('busy'), { status: 503 })
      return `${name} ${task} done, ask ${name}@example.org`
    },
  }))
}
