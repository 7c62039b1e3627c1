import { Agent, type Clock, toolResult } from '@allium/core'
import { persist } from '@allium/memory'
import type { RunKey } from '@allium/store'
import type { SqliteStore } from '@allium/store-sqlite'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { type Durable, durable, type Entry } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }

/** Bytes in which `canary` can be found, other ones for each name. */
const imageNamed = (name: string) => new Uint8Array(Buffer.alloc(8_000_000, `canary ${name} `))
const images = { input: imageNamed('input'), tool: imageNamed('tool'), generated: imageNamed('generated') }
const partOf = (data: Uint8Array) => ({ type: 'file' as const, data, mediaType: 'image/png' })

/** Returns the names of the images in a value, if they are whole. */
export function namesOf(value: unknown): string[] {
  if (value instanceof Uint8Array)
    return Object.entries(images).flatMap(([name, image]) => (Buffer.compare(image, value) === 0 ? [name] : []))
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(namesOf).toSorted() : []
}

/** The model looks at an image with a tool, then draws one; then its process is lost. */
export const untilLost: ScriptedStep[] = [
  { toolCalls: [{ name: 'look', callId: 'c0' }] },
  { chunks: [partOf(images.generated)], toolCalls: [{ name: 'note', callId: 'c1' }] },
  { stall: true },
]

/** A process on a store. */
export function imageProcess(
  store: Pick<SqliteStore, 'sessions' | 'runs' | 'events'>,
  steps: readonly ScriptedStep[],
  options: { clock?: Clock; lease?: number } = {},
) {
  const model = scriptedModel(steps)
  const called: string[] = []
  const tool = (name: string, result: unknown) => ({
    name,
    description: name,
    jsonSchema: {},
    execute: () => {
      called.push(name)
      return result
    },
  })
  const tools = [tool('look', toolResult({ content: [partOf(images.tool)] })), tool('note', 'noted')]
  const { clock, lease = 1000 } = options
  const agent = new Agent({ version: '1', model, tools: tools as never, clock }).use(persist({ store: store.sessions }))
  const runs = durable(agent, { store, lease, logger: { ...console, warn() {}, error() {} }, clock })
  return { runs, model, called }
}

export function startImages(runs: Durable) {
  return runs.start({ principal, sessionId: 'chat', input: { role: 'user', content: [partOf(images.input)] } })
}

/** Waits until the log has the whole answer with the image. Readers who have a part of it get it again after a takeover. */
export async function untilLogged({ events }: Pick<SqliteStore, 'events'>, run: RunKey): Promise<void> {
  for await (const { event: entry } of events.read(run, 0)) {
    const { type, callId } = (entry as Entry).event as { type: string; callId?: string }
    if (type === 'tool:start' && callId === 'c1') return
  }
}

/** The events of a run until it ends. */
export async function eventsOf(runs: Durable, run: string): Promise<Entry['event'][]> {
  const events: Entry['event'][] = []
  for await (const { event } of runs.attach(run, { principal })) events.push((event as Entry).event)
  return events
}
