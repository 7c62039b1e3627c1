import type { Journal, Model } from '@allium/core'
import { memoryLedger, recordStep, replayStep } from '@allium/store'
import * as guard from '../../src/guard.ts'
import { Agent, defineTool } from '../../src/index.ts'
import * as models from '../../src/model.ts'
import * as observe from '../../src/observe.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing.ts'
import * as tools from '../../src/tools.ts'

const polite = Array.from({ length: 9 }, () => '{"score": 1, "why": "Polite."}')

/** What is asked of the outside, in its order: a replay asks nothing. */
export interface Asked {
  readonly calls: string[]
}

/** Four tools at once, one of which fails and one of which is another agent; a try that fails; a judge, a budget, caches and an audit. */
export function agentOf({ calls }: Asked): Agent {
  const told = (id: string, steps: ScriptedStep[]): Model => {
    const model = scriptedModel(steps, { id })
    return {
      id,
      stream(request) {
        calls.push(id)
        return model.stream(request)
      },
    }
  }
  const tool = (name: string, execute: () => unknown) =>
    defineTool({
      name,
      description: name,
      jsonSchema: { type: 'object' },
      execute() {
        calls.push(name)
        return execute()
      },
    })
  const clerk = new Agent({ name: 'clerk', model: told('clerk/1', ['There is room.']) })
  const busy = Object.assign(new Error('Overloaded'), { status: 529 })
  const all = ['train', 'pay', 'picture', 'clerk'].map((name) => ({
    name,
    callId: name,
    args: name === 'clerk' ? { task: 'Is there room?' } : {},
  }))
  return new Agent({
    name: 'desk',
    model: told('desk/1', [
      { error: busy },
      { text: 'I look.', reasoning: 'Four things.', toolCalls: all },
      'All is booked.',
    ]),
    tools: [
      tool('train', () => ({ leaves: new Date(0), seats: 3n })),
      tool('pay', () => {
        throw new Error('The card was refused.')
      }),
      tool('picture', () => new Uint8Array([0, 1, 255])),
    ],
    ids: () => 'session',
    logger: { warn() {}, error() {} },
  })
    .use(observe.audit({ sink: { append() {} } }))
    .use(
      guard.judge({
        model: told('court/1', polite),
        rubric: 'Is polite.',
      }),
    )
    .use(models.retry({ delay: 1 }))
    .use(models.cache())
    .use(guard.budget({ limit: 1e6, unit: 'tokens', ledger: memoryLedger() }))
    .use(tools.cache({ tools: ['train'] }))
    .use(tools.agent({ agent: clerk, description: 'Asks the clerk' })) as Agent
}

/** What the caller has of the turn. */
export async function turnOf(journal: Journal, asked: Asked) {
  const events: string[] = []
  const run = agentOf(asked).run('Book.', { turnId: 'turn', journal })
  for await (const { type } of run) events.push(type)
  const { text, status, usage, messages } = await run
  return { text, status, usage, messages, events }
}

export type Steps = readonly (readonly [id: string, body: string])[]

/** Records steps as the stores do. */
export function recording(): Journal & { readonly steps: [string, string][] } {
  const steps: [string, string][] = []
  return {
    steps,
    step: (id, work, emit) => recordStep(work, emit, async (body) => void steps.push([id, body])),
  }
}

/** Steps of an earlier release. It refuses any other step, except what a layer looks for when it takes a run over. */
export function replaying(steps: Steps): Journal {
  const known = new Map(steps)
  return {
    known: (id) => known.has(id),
    async step(id, work, emit) {
      const body = known.get(id)
      if (body === undefined && id.includes(':takeover/')) return work(emit)
      if (body === undefined) throw new Error(`The journal has no step "${id}".`)
      return replayStep(body, emit)
    },
  }
}
