import { setTimeout as sleep } from 'node:timers/promises'
import { durable, type Entry, type StartOptions } from '../../src/index.ts'
import { agentOn, decidedKey, type Opened, type Place, principal, quiet, unwatched } from './scene.ts'

/** How runs are started, read, and looked at. */
export interface Client {
  start(options: StartOptions): Promise<string>
  /** What a reader has at the run's end who leaves now and then, and comes back to where it was, and how often it got the end. */
  read(run: string, isFidgety: boolean): Promise<{ text: string; ends: number }>
  /** How it stands in the store. */
  get(run: string): Promise<{ status: string; text?: string | undefined; reason?: string | undefined }>
}

/** What came of it, beside what stands in the store. */
export interface Clients {
  readonly problems: string[]
  /** Keys of turns that have ended, by their session. */
  readonly ended: [session: string, key: string][]
  readonly readers: { count: number }
  /** What each session waits for now. */
  readonly waiting: Map<string, string>
}

/** Runs a turn from its question to its answer, over its approval, with two readers of each of its runs. */
export async function turn(
  client: Client,
  store: Opened,
  at: { session: string; key: string },
  of: Clients,
): Promise<void> {
  const { session, key } = at
  const asked = { principal, sessionId: session }
  await ended(client, { ...asked, input: key, idempotencyKey: key }, 'suspended', of)
  of.waiting.set(session, `what waits of ${key}`)
  const decisions = await decisionsFor(store, session)
  await ended(client, { ...asked, decisions, idempotencyKey: decidedKey(key) }, 'completed', of)
  of.ended.push([session, key])
  of.waiting.delete(session)
}

async function ended(client: Client, options: StartOptions, asked: string, of: Clients): Promise<void> {
  const { sessionId = '', idempotencyKey } = options
  of.waiting.set(sessionId, `the start of ${idempotencyKey}`)
  const run = await client.start(options)
  of.waiting.set(sessionId, `the end of ${idempotencyKey}, run ${run}`)
  const all = await Promise.all([client.read(run, true), client.read(run, false)])
  const { status, text = '', reason } = await client.get(run)
  // Without its approval, the session has nothing to decide.
  if (status !== asked)
    throw new Error(`the run of ${options.idempotencyKey} has ended as ${status}: ${reason ?? text}`)
  for (const read of all) {
    if (read.ends !== 1) of.problems.push(`a reader of ${options.idempotencyKey} got ${read.ends} ends`)
    if (read.text !== text)
      of.problems.push(`a reader of ${options.idempotencyKey} has "${read.text}", and the store "${text}"`)
  }
  of.readers.count += all.length
}

/** Milliseconds for which a session is taken to read its pending calls. */
const decisionLease = 10_000

/** What waits in the session is approved, as its owner sees it. */
async function decisionsFor(store: Opened, id: string) {
  const agent = agentOn(store, unwatched, decisionLease)
  const session = agent.session({ id, principal: principal as never })
  await insisted(() => session.open())
  const decisions = Object.fromEntries(
    session.pending.map(({ callId, token }) => [
      callId,
      { approve: true as const, ...(token !== undefined && { token }) },
    ]),
  )
  await session.close()
  return decisions
}

/** Reads by the log of the store, as a process does that runs nothing. */
export function storeClient(
  store: Opened,
  { lease }: Place,
  { start, random }: Pick<Client, 'start'> & { random: () => number },
): Client {
  const runs = durable(agentOn(store, unwatched, lease), { store, lease, logger: quiet })
  // This process reads, and runs nothing.
  void runs.drain()
  return {
    start,
    get: (run) => insisted(() => runs.get(run, { principal })),
    async read(run, isFidgety) {
      const text = { now: '', ends: 0 }
      for (let after = 0, ended = false; !ended; )
        try {
          const patience = isFidgety ? 1 + Math.floor(random() * 12) : Number.POSITIVE_INFINITY
          ended = true
          let read = 0
          for await (const { seq, event } of runs.attach(run, { principal, after })) {
            after = seq
            take(text, event as Entry)
            if (++read >= patience) {
              ended = false
              break
            }
          }
        } catch (error) {
          if (!isAway(error)) throw error
          ended = false
          await sleep(50)
        }
      return { text: text.now, ends: text.ends }
    },
  }
}

function take(text: { now: string; ends: number }, { event }: Entry): void {
  const { type, delta, path } = event as { type: string; delta?: string; path?: unknown }
  if (path !== undefined) return
  if (type === 'model:reset' || type === 'step:start') text.now = ''
  if (type === 'text-delta') text.now += delta
  if (type === 'turn:end') text.ends++
}

/** Asks again while its server is away. */
export async function insisted<T>(ask: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await ask()
    } catch (error) {
      if (!isAway(error)) throw error
      await sleep(50)
    }
}

function isAway(error: unknown): boolean {
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown }
  return code === 'store.unavailable' || code === 'http.status' || (name === 'TypeError' && message === 'fetch failed')
}
