import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@allium/core'
import { type ReadTurn, readRecordings } from '@allium/replay/recorded'
import { replay } from '@allium/replay/replay'
import type { SqliteStore } from '@allium/store-sqlite'
import { sqlite } from '@allium/store-sqlite'
import type { ChildOptions } from '../../messages.ts'
import { type ReplayChange, type ReplayRequest, type ReplayView, replayView } from '../../replay-change.ts'
import { loadAgent } from '../load-agent.ts'
import { openSessions } from '../open-sessions.ts'
import { holdLayers } from './layer-order.ts'

/**
 * Replays one recorded turn through the agent as its files are now, with a change. Models and tools answer from the recording. Sessions of
 * the replay are stored in memory.
 *
 * @throws Error if the turn was not recorded, its history is gone, or the agent does not have the layer
 */
export async function replayTurn(options: ChildOptions, request: ReplayRequest): Promise<ReplayView> {
  const { file, exportName, cwd, database } = options
  const env = join(cwd, '.env')
  if (existsSync(env)) process.loadEnvFile(env)
  const sessions = openSessions(':memory:')
  try {
    const { agent, module } = await loadChanged(file, exportName, request.change)
    sessions.storesOf(agent, module)
    const store = sqlite(database, { encrypt: module.encrypt })
    try {
      const [name = module.agent.name] = module.agent.sessionNames
      return await replayed(agent, await readTurn(store, { ...request, agent: name }), request.change)
    } finally {
      store.close()
    }
  } finally {
    sessions.close()
  }
}

async function replayed(agent: object, turn: ReadTurn, change: ReplayChange): Promise<ReplayView> {
  const without = change.kind === 'without' ? [change.layer] : []
  let view: ReplayView | undefined
  const onTurn = (one: Parameters<typeof replayView>[0]) => {
    view = replayView(one)
  }
  await replay({ agent: agent as Agent, recordings: [turn], without, onTurn })
  if (view === undefined) throw new Error('The replay returned no turn.')
  return view
}

/** Loads the agent with the change. */
async function loadChanged(file: string, exportName: string, change: ReplayChange) {
  const held = holdLayers()
  try {
    const module = await loadAgent(file, exportName)
    const { agent } = change.kind === 'export' ? await loadAgent(file, change.name) : module
    if (change.kind === 'move') held.move(agent, change)
    return { agent, module }
  } finally {
    held.release()
  }
}

async function readTurn(
  { recordings, sessions }: Pick<SqliteStore, 'recordings' | 'sessions'>,
  { tenant, owner, agent, sessionId, turnId }: ReplayRequest & { readonly agent: string },
): Promise<ReadTurn> {
  const found = await recordings.get({ key: { tenant, owner, agent, sessionId }, turnId })
  if (found === undefined)
    throw new Error(
      'This turn was not recorded. The inspector records turns since this version of it, for 30 days, unless a layer of the agent redacts or the agent records itself.',
    )
  const info = { ...found, bytes: found.content.length }
  const only = { get: async () => found, list: async () => ({ items: [info] }) }
  const read = readRecordings({ recordings: only, sessions, agent, limit: 1 })
  for await (const turn of read) return turn
  throw new Error(`This turn cannot be replayed: ${Object.keys(read.unread).join(', ')}.`)
}
