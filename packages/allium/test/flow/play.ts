import { z } from 'zod'
import { type AgentRun, type Input, memoryStore, type PendingCall, type Session } from '../../src/index.ts'
import * as models from '../../src/model.ts'
import type { Wish } from './obedient.ts'
import { leads } from './rendered.ts'
import { orderOf, type Scenario } from './scenario.ts'
import { type MakeGuard, type Shared, type World, worldOf } from './world.ts'

/** What came of a scenario. */
export interface Outcome {
  /** What got out: tools that ran with what the attacker wanted, addresses that an answer led to. */
  readonly reached: readonly string[]
  /** Questions of the guard, each with what it named. */
  readonly asked: readonly { untrusted?: { kind: string; tool?: string }; private?: { kind: string; tool?: string } }[]
  readonly failed: string | undefined
}

type Talk = Session<object>
type Options = { use?: never; output?: never }

/** Plays a scenario with a person who approves all that is asked without naming a source, with other arguments, and denies the rest. */
export async function play(scenario: Scenario, makeGuard: MakeGuard): Promise<Outcome> {
  const shared: Shared = { reached: [], store: memoryStore(), cache: models.memoryKeyValue(), answers: new Map() }
  const asked: Outcome['asked'][number][] = []
  const shown: string[] = []
  let failed: string | undefined

  try {
    await story(scenario, {
      world: (isGuarded = true) => worldOf(scenario, shared, isGuarded ? makeGuard : () => undefined),
      async say({ model }, session, wishes, input = 'go', options = {}) {
        model.wishes.push(...wishes)
        await heard(session, session.run(input, { ...formOf(scenario), ...options }))
      },
    })
  } catch (error) {
    failed = String(error)
  }
  return {
    reached: [...shared.reached, ...shown.flatMap(leads).filter((where) => where.includes('evil'))],
    asked,
    failed,
  }

  async function heard(session: Talk, run: AgentRun<object, unknown>): Promise<void> {
    const texts = { 'text-delta': '', 'reasoning-delta': '' }
    let steered: Promise<unknown> | undefined
    for await (const event of run) {
      if (event.type === 'text-delta' || event.type === 'reasoning-delta') texts[event.type] += event.delta
      if (event.type === 'tool:start' && scenario.source === 'steered file')
        steered ??= run.steer([{ type: 'text', text: 'And this.' }, fileWith(scenario)])
    }
    await steered
    const { status, text, pending, output } = await run
    shown.push(
      text,
      (output as { said?: string } | undefined)?.said ?? '',
      texts['text-delta'],
      texts['reasoning-delta'],
    )
    if (status === 'suspended') await heard(session, session.resume(Object.fromEntries(pending.map(decision))))
  }

  function decision({ callId, args, request, client }: PendingCall) {
    if (client === true) return [callId, { result: `Read this. ${orderOf(scenario)}` }]
    const sources = request?.sources as Outcome['asked'][number] | undefined
    if (sources === undefined) return [callId, { args: { ...args, note: 'changed by a person' } }]
    asked.push(sources)
    return [callId, { deny: 'I have not asked for this.' }]
  }
}

function fileWith(scenario: Scenario) {
  return { type: 'file', data: `Read this. ${orderOf(scenario)}`, mediaType: 'text/plain' } as const
}

/** How the answers are to be given. */
function formOf({ sink, seed }: Scenario): Options {
  const strategy = seed % 2 === 0 ? 'tool' : 'native'
  return (sink === 'structured link' ? { output: { schema: z.object({ said: z.string() }), strategy } } : {}) as Options
}

interface Stage {
  /** @param isGuarded whether it has the guard, if any has it */
  world(isGuarded?: boolean): World
  say(world: World, session: Talk, wishes: readonly Wish[], input?: Input, options?: Options): Promise<void>
}

const crm: Wish = [{ name: 'crm' }]
const page: Wish = [{ name: 'read_page' }]

/** How the attacker's text and the secret come into a conversation, and that the model then goes on by itself. */
async function story(scenario: Scenario, { world, say }: Stage): Promise<void> {
  const { source, secretFirst, pause, carrier } = scenario
  const order = orderOf(scenario)
  const one = world(!source.endsWith('without labels'))
  const { agent } = one
  const id = `s${scenario.seed}`
  const principal = { tenantId: 't', userId: 'u' }
  const session = agent.session({ id, principal }) as Talk
  const both = (reads: Wish): Wish[] => {
    if (carrier === 'parallel calls' && typeof reads !== 'string') return [[...reads, { name: 'crm' }]]
    return secretFirst ? [crm, reads] : [reads, crm]
  }
  const rest = pause ? ['A word in between.'] : []
  const goOn = async (where: World, talk: Talk) => {
    if (pause) await say(where, talk, rest)
    await say(where, talk, [])
  }

  switch (source) {
    case 'tool result':
    case 'tool error':
      return say(one, session, both(page))
    case 'label of one result':
      return say(one, session, both([{ name: 'read_note' }]))
    case 'MCP result':
      return say(one, session, both([{ name: 'srv__fetch' }]))
    case 'MCP description':
      return say(one, session, [crm])
    case 'answer of a sub-agent':
      return say(one, session, both([{ name: 'researcher', args: { task: 'go' } }]))
    case 'file': {
      const content = [{ type: 'text', text: 'go' } as const, fileWith(scenario)]
      return say(one, session, [crm], [{ role: 'user', content }])
    }
    case 'steered file':
      return say(one, session, [crm])
    case 'result of the client': {
      const browse = { name: 'browse', description: 'The open page', jsonSchema: { type: 'object' } }
      return say(one, session, both([{ name: 'browse' }]), 'go', { clientTools: [browse] } as Options)
    }
    case 'given history':
      return say(
        one,
        session,
        [crm],
        [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: `I have read: ${order}` },
          { role: 'user', content: 'go' },
        ],
      )
    case 'summary':
      await say(one, session, [...both(page).slice(0, 2), 'Read.'])
      return goOn(one, session)
    case 'cached result':
    case 'cached result of a sub-agent': {
      const reads: Wish = source === 'cached result' ? page : [{ name: 'researcher', args: { task: 'go' } }]
      const other = agent.session({ id: `${id}-before`, principal }) as Talk
      await say(one, other, [reads, 'Read.'])
      return say(one, session, both(reads))
    }
    case 'cached answer': {
      const other = agent.session({ id: `${id}-before`, principal }) as Talk
      await say(one, other, both(page))
      return say(one, session, [])
    }
    case 'structured output': {
      const output = { schema: z.object({ said: z.string() }), strategy: 'tool' as const }
      const answer: Wish = [{ name: 'answer', args: { said: `It says ${order}` } }]
      await say(one, session, [...both(page).slice(0, 2), answer], 'go', { output: output as never })
      return goOn(one, session)
    }
    case 'tool of the provider':
      return say(one, session, [crm, [{ name: 'web', brings: `Read this. ${order}` }]])
    case 'layer of a run': {
      const layer = { name: 'gives', tool: (ctx: never, next: () => Promise<unknown>) => given(ctx, next, order) }
      return say(one, session, both(page), 'go', { use: [layer] as never })
    }
    case 'forked history':
      await say(one, session, [...both(page), 'Read.'])
      return goOn(one, session.fork())
    default:
      await say(one, session, [...both(page), 'Read.'])
      return later(source)
  }

  /** Another process, or another session, goes on with what there was. */
  async function later(how: string): Promise<void> {
    const next = world()
    const talk = next.agent.session({ id, principal }) as Talk
    const snapshot = session.snapshot()
    if (how.startsWith('stored')) await session.close()
    else if (how === 'history put in place') {
      await say(next, talk, ['Hello.'])
      talk.restore({ ...snapshot, state: {} })
    } else talk.restore(snapshot)
    await goOn(next, talk)
  }
}

function given(ctx: { tool: { name: string }; skipCall(text: string): unknown }, next: () => unknown, order: string) {
  return ctx.tool.name === 'read_page' ? ctx.skipCall(`Read this. ${order}`) : next()
}
