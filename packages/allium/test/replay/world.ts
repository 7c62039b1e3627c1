import { record } from '@allium/replay'
import { type ReadTurn, readRecordings } from '@allium/replay/recorded'
import { type ReplayReport, replay } from '@allium/replay/replay'
import { type AgentStore, memoryLedger, memoryStore, type VaultValues } from '@allium/store'
import { expect } from 'vitest'
import { Agent, type AgentOptions, type Session, type Usable } from '../../src/index.ts'
import { memoryKeyValue } from '../../src/model.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing.ts'

type Options = Partial<AgentOptions>

/** The parts of an agent. Made anew for the recording and for each replay. */
export interface Parts {
  readonly layers?: readonly Usable[]
  readonly options?: Options
}

/** A kind of turn. */
export interface Kind {
  readonly title: string
  readonly steps: readonly ScriptedStep[]
  readonly parts?: (() => Parts) | undefined
  /** Runs the turns. @default one turn with the input "hi" */
  readonly play?: ((session: Session, agent: Agent) => PromiseLike<unknown>) | undefined
  /** Why the replay is not the same, with the fields that differ. */
  readonly except?: { readonly why: string; readonly fields: readonly string[] } | undefined
  /** What the replay does not enter. */
  readonly notes?: readonly string[] | undefined
}

const logger = { warn() {}, error() {} }
export const dana = { tenantId: 'acme', userId: 'dana', roles: ['agent'] }

/** A store with all parts, in memory. */
export function store(): AgentStore {
  const values = new Map<string, VaultValues>()
  const sessions = memoryStore()
  return {
    sessions,
    recordings: sessions.recordings,
    ledger: memoryLedger(),
    keyValue: memoryKeyValue(),
    vault: { load: (key) => values.get(key), save: (key, kept) => void values.set(key, kept) },
  }
}

/** The tools that ran. */
export const ran: string[] = []

/** A tool that returns its arguments. */
export function tool(name: string, more: object = {}) {
  return {
    name,
    description: name,
    jsonSchema: { type: 'object' },
    execute(args: object): unknown {
      ran.push(name)
      return `${name} ${JSON.stringify(args)}`
    },
    ...more,
  }
}

export function agentOf(kept: AgentStore, steps: readonly ScriptedStep[], { layers = [], options = {} }: Parts): Agent {
  const common: Options = { tools: [tool('work'), tool('other')], logger, orderCheck: 'off', version: '1' }
  const agent = new Agent({ model: scriptedModel(steps), store: kept, ...common, ...options } as AgentOptions)
  return agent.use(record()).use([...layers]) as Agent
}

/** Runs the turns of a kind, and returns their recordings. */
export async function recordedKind(kind: Pick<Kind, 'steps' | 'parts' | 'play'>) {
  const kept = store()
  const agent = agentOf(kept, kind.steps, kind.parts?.() ?? {})
  const session = agent.session({ id: 's1', principal: dana })
  const { play = (chat: Session) => chat.run('hi') } = kind
  try {
    await play(session as Session, agent)
  } catch {
    // The outcome of a turn that fails is recorded, too.
  }
  await agent.dispose()
  return { kept, turns: await turnsIn(kept, agent.name) }
}

export async function turnsIn({ recordings, sessions }: AgentStore, agent: string): Promise<ReadTurn[]> {
  if (recordings === undefined) throw new Error('no recordings')
  const turns: ReadTurn[] = []
  const read = readRecordings({ recordings, sessions, agent })
  for await (const turn of read) turns.push(turn)
  expect(read.unread).toEqual({})
  return turns
}

/** Replays turns through a new agent, and checks that no model was called, no tool ran, and nothing was recorded. */
export async function replayedKind(
  kept: AgentStore,
  turns: readonly ReadTurn[],
  { parts = {}, ...options }: { parts?: Parts; mode?: 'pinned' | 'exact'; without?: readonly string[] } = {},
): Promise<ReplayReport> {
  const model = scriptedModel([])
  const agent = agentOf(kept, [], { ...parts, options: { ...parts.options, model } })
  const before = [ran.length, JSON.stringify(await kept.recordings?.sizes())]
  try {
    const report = await replay({ agent, recordings: turns, ...options })
    expect([model.calls, ran.length, JSON.stringify(await kept.recordings?.sizes())]).toEqual([0, ...before])
    return report
  } finally {
    await agent.dispose()
  }
}
