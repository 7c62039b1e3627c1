import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type AgentOptions, type Model, type ModelChunk, type ModelRequest } from '@allium/core'
import { type DurableOptions, durable } from '@allium/durable'
import { persist } from '@allium/memory'
import { memoryStore, type SessionStore } from '@allium/store'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { onTestFinished } from 'vitest'
import { type ServerOptions, server } from '../src/index.ts'
import { serve } from '../src/node.ts'
import { silent, tellAnswer } from './told.ts'

/** Who asks says so in a header: `acme/ann`. */
export const principal = (request: Request) => {
  const [tenantId, userId] = request.headers.get('authorization')?.split('/') ?? []
  return userId === undefined ? undefined : { tenantId, userId }
}

export { silent }

/** A server on a free port, until the test is over. */
export async function listen(agent: Agent | Record<string, Agent>, options: Partial<ServerOptions> = {}) {
  const all = { principal, logger: silent, ...options }
  const made = agent instanceof Agent ? server(agent, all) : server({ agents: agent, ...all })
  const { url, close, server: http } = await serve(made, { port: 0, signals: false, drainTimeout: 0 })
  onTestFinished(async () => {
    http.closeAllConnections()
    await close()
  })
  return { url, made, http }
}

/** A file in a folder of its own, until the test is over. */
export function fileOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'store.db')
}

/** A server whose runs are durable, in a file. */
export async function listenDurably(agent: Agent | Record<string, Agent>, options: Partial<ServerOptions> = {}) {
  const store = sqlite(fileOf(), { encrypt: mirrored })
  const agents = agent instanceof Agent ? [agent] : Object.values(agent)
  const runs = agents.map((one) => durablyKept(one, store, { lease: 10_000 }))
  onTestFinished(async () => {
    await Promise.all(runs.map((one) => one.drain({ timeout: 0 })))
    store.close()
  })
  return listen(agent, { durable: runs, ...options })
}

/** For layers that redact: a durable run is stored before they see it. */
export const mirrored = { seal: mirror, open: mirror }
function mirror(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => byte ^ 0xff)
}

/** The runs of an agent that keeps its sessions in a store. */
export function durablyKept(agent: Agent, store: SqliteStore, options: Partial<DurableOptions> = {}) {
  agent.use(persist({ store: store.sessions }))
  return durable(agent, { store, lease: 1000, logger: silent, ...options })
}

export type Listen = typeof listen

/** Runs of the process, and durable ones. */
export const kinds: readonly (readonly [string, Listen])[] = [
  ['of the process', listen],
  ['that are durable', listenDurably],
]

export function agentOf(steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}) {
  return new Agent({ version: '1', model: scriptedModel(steps), logger: silent, ...options })
}

export function kept(agent: Agent, sessions: SessionStore = memoryStore()): { agent: Agent; sessions: SessionStore } {
  return { agent: agent.use(persist({ store: sessions })), sessions }
}

export interface Ask {
  as?: string
  headers?: Record<string, string>
  body?: unknown
  method?: string
  signal?: AbortSignal
}

/** A request of Ann of Acme, unless somebody else asks. */
export async function ask(url: string, { as = 'acme/ann', headers = {}, body, method, signal }: Ask = {}) {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: as, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  })
  return tellAnswer(response)
}

export const asStream = { accept: 'text/event-stream' }

export interface SseEvent {
  id?: string
  event?: string
  data: string
  comment?: true
}

/** The events of a stream, as they come; comments among them, but for the first one, which states the heartbeat. */
export async function* eventsOf(response: Response): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() as string
    for (const block of blocks) if (!block.startsWith(': heartbeat')) yield eventOf(block)
  }
}

function eventOf(block: string): SseEvent {
  if (block.startsWith(':')) return { data: '', comment: true }
  return Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2))) as SseEvent
}

export async function allOf(response: Response): Promise<SseEvent[]> {
  const all: SseEvent[] = []
  for await (const event of eventsOf(response)) all.push(event)
  return all
}

export function textIn(events: readonly SseEvent[]): string {
  return events
    .map(({ data }) => JSON.parse(data || '{}'))
    .flatMap(({ type, delta }) => (type === 'text-delta' ? [delta] : []))
    .join('')
}

/** A model whose first answer goes on when it is told to, chunk by chunk; those after it are "Next." */
export function gated(): { model: Model; text(delta: string): void; end(): void; closed: Promise<void> } {
  const chunks: (ModelChunk | undefined)[] = []
  let wake = () => {}
  let close = () => {}
  const closed = new Promise<void>((resolve) => (close = resolve))
  const next = scriptedModel(['Next.', 'Next.'])
  let calls = 0
  const push = (chunk: ModelChunk | undefined) => {
    chunks.push(chunk)
    wake()
  }
  const model: Model = {
    id: 'gated',
    stream: (request) => (calls++ === 0 ? answer(request) : next.stream(request)),
  }
  async function* answer({ signal }: ModelRequest): AsyncGenerator<ModelChunk> {
    try {
      for (;;) {
        const chunk = chunks.shift()
        if (chunk !== undefined) yield chunk
        if (chunk?.type === 'finish') return
        if (chunks.length > 0) continue
        await new Promise<void>((resolve, reject) => {
          wake = resolve
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        })
      }
    } finally {
      close()
    }
  }
  return {
    model,
    text: (delta: string) => push({ type: 'text-delta', delta }),
    end: () => push({ type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }),
    closed,
  }
}
