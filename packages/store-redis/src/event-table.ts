import type { SessionKey } from '@allium/core'
import type { EventScope, LatestRun, RunKey } from '@allium/store'
import {
  type AppendOutcome,
  type EventTable,
  month,
  type RunHead,
  runName,
  type StoredBatch,
  type StoredSignal,
  sessionKeyParts,
} from '@allium/store-sql'
import type { Client } from './client.ts'
import type { ErasureLog } from './erasure-log.ts'
import {
  acknowledgeAtEndScript,
  acknowledgeScript,
  addSignalScript,
  appendScript,
  deleteRunScript,
  listenScript,
} from './event-scripts.ts'

/** The data of a run in Redis, each under its own key. */
const keyParts = ['run', 'events', 'signals', 'steers'] as const

/** Batches per read. */
const pageSize = 64

/** Events of runs as Redis streams. */
export class RedisEvents implements EventTable {
  readonly #client: Client
  readonly #eventRetention: number
  readonly #erasures: ErasureLog
  /** The number of events that this process has seen, for each open run. */
  readonly #knownSeqs = new Map<string, number>()
  readonly #keys = new WeakMap<RunKey, readonly string[]>()

  constructor(client: Client, eventRetention: number, erasures: ErasureLog) {
    this.#client = client
    this.#eventRetention = eventRetention
    this.#erasures = erasures
  }

  async append(...[run, epoch, batch, options]: Parameters<EventTable['append']>): Promise<AppendOutcome> {
    const { end, mustExist, by } = options
    const [outcome, result, lastSignal, listener] = await this.#append(run, epoch, batch, options)
    if (outcome === 'taken' || outcome === 'ended' || outcome === 'gone') return { fenced: outcome }
    if (by !== undefined && !mustExist && (await this.#erasures.isErased(by))) {
      await this.#deleteRun(run.turnId, this.#keysOf(run))
      return { fenced: 'gone' }
    }
    if (outcome === 'undelivered') return { undelivered: signalsFromHash(result as string[]) }
    const runId = runName(run)
    const seq = outcome === 'lost' ? (this.#knownSeqs.get(runId) ?? 0) + (batch?.count ?? 0) : Number(result)
    if (end) this.#knownSeqs.delete(runId)
    else this.#knownSeqs.set(runId, seq)
    return outcome === 'lost' ? { seq } : { seq, lastSignal: Number(lastSignal), listener: Number(listener) }
  }

  async batches(run: RunKey, after: number): Promise<StoredBatch[]> {
    const rows = await this.#client.command((redis) =>
      redis.xrange(this.#keyOf(run, 'events'), `${after + 1}-0`, '+', 'COUNT', pageSize),
    )
    return rows.map(([prefix, fields]) => batchFromFields(Number(prefix.split('-')[0]), fields))
  }

  heads(runs: readonly RunKey[]): Promise<(RunHead | undefined)[]> {
    return Promise.all(runs.map((run) => this.#head(run)))
  }

  async latest(key: SessionKey): Promise<LatestRun | undefined> {
    const turnId = await this.#client.command((redis) => redis.get(this.#latestKey(key)))
    const head = turnId === null ? undefined : await this.#head({ key, turnId })
    return turnId === null || head === undefined ? undefined : { turnId, seq: head.seq, ended: head.ended }
  }

  async addSignal(run: RunKey, id: string | null, body: Uint8Array | null): Promise<boolean> {
    const signal = JSON.stringify([id, body && base64(body)])
    const values = [id ?? '', id === null ? '1' : '0', signal, month]
    return (await this.#client.runScript(addSignalScript, this.#keysOf(run), ...values)) === 1
  }

  async listen(run: RunKey): Promise<number | undefined> {
    const number = Number(await this.#client.runScript(listenScript, this.#keysOf(run)))
    return number === 0 ? undefined : number
  }

  async signals(run: RunKey, after: number): Promise<StoredSignal[]> {
    const fields = await this.#client.command((redis) => redis.hgetall(this.#keyOf(run, 'signals')))
    return signalsFromHash(Object.entries(fields).flat()).filter(({ n }) => n > after)
  }

  async acknowledgeAtEnd(run: RunKey, epoch: number, ns: readonly number[]): Promise<boolean> {
    return (await this.#client.runScript(acknowledgeAtEndScript, this.#keysOf(run), epoch, ...ns)) === 1
  }

  async acknowledge(run: RunKey, listener: number, n: number): Promise<void> {
    await this.#client.runScript(acknowledgeScript, this.#keysOf(run), listener, n)
  }

  async delete(scope: EventScope): Promise<void> {
    if (!('sessionId' in scope)) await this.#erasures.add(scope)
    for await (const latest of 'sessionId' in scope ? [this.#latestKey(scope)] : sessionKeys(this.#client, scope)) {
      const runs = await this.#client.command((redis) => redis.zrange(`${latest}:runs`, '0', '-1'))
      for (const turnId of runs) await this.#deleteRun(turnId, keysUnder(latest, turnId))
    }
  }

  async #append(...[run, epoch, batch, options]: Parameters<EventTable['append']>): Promise<AppendReply> {
    const { end, mustExist, request } = options
    const knownSeq = this.#knownSeqs.get(runName(run)) ?? 0
    const flags = [end, mustExist].map(Number)
    const numbers = `${epoch} ${batch?.count ?? 0} ${flags[0]} ${this.#eventRetention} ${month} ${knownSeq} ${flags[1]} ${Date.now()}`
    const values = [run.turnId, batch?.id ?? '', batch === undefined ? '' : base64(batch.body), request, numbers]
    return (await this.#client.runScript(appendScript, this.#keysOf(run), ...values)) as AppendReply
  }

  async #head(run: RunKey): Promise<RunHead | undefined> {
    const key = this.#keyOf(run, 'run')
    const fields = await this.#client.command((redis) => redis.hmget(key, 'seq', 'lastSignal', 'listener', 'ended'))
    const [seq, lastSignal, listener, ended] = fields
    if (seq === null) return undefined
    return { seq: Number(seq), lastSignal: Number(lastSignal), listener: Number(listener), ended: ended !== null }
  }

  #deleteRun(turnId: string, keys: readonly string[]): Promise<unknown> {
    return this.#client.runScript(deleteRunScript, keys, turnId, Date.now())
  }

  #keysOf(run: RunKey): readonly string[] {
    const keys = this.#keys.get(run) ?? keysUnder(this.#latestKey(run.key), run.turnId)
    this.#keys.set(run, keys)
    return keys
  }

  #latestKey(key: SessionKey): string {
    return this.#client.key(['run', ...sessionKeyParts(key)])
  }

  #keyOf(run: RunKey, part: 'run' | 'events' | 'signals'): string {
    return this.#client.key(['run', ...sessionKeyParts(run.key)], run.turnId, part)
  }
}

type AppendReply = [outcome: string, result: unknown, lastSignal: unknown, listener: unknown]

function keysUnder(latest: string, turnId: string): string[] {
  return [...keyParts.map((part) => `${latest}:${encodeURIComponent(turnId)}:${part}`), latest, `${latest}:runs`]
}

/** Yields the session keys of an owner or a tenant. It scans all keys in Redis. */
async function* sessionKeys(client: Client, { tenant, owner }: { tenant: string; owner?: string }) {
  const prefix = ['run', tenant, ...(owner === undefined ? [] : [owner])]
  const suffix = ':runs'
  for await (const key of client.scan(prefix, suffix)) yield key.slice(0, -suffix.length)
}

/** A batch is stored at the position of its last event. */
function batchFromFields(last: number, fields: readonly string[]): StoredBatch {
  const [, id = '', , count = '0', , body = ''] = fields
  return { first: last - Number(count) + 1, count: Number(count), id, body: Buffer.from(body, 'base64') }
}

/** Parses alternating numbers and signals from an unordered hash. */
function signalsFromHash(fields: readonly string[]): StoredSignal[] {
  const signals: StoredSignal[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const [id, body] = JSON.parse(fields[i + 1] ?? '[]') as [string | null, string | null]
    signals.push({ n: Number(fields[i]), id, body: body === null ? null : Buffer.from(body, 'base64') })
  }
  return signals.sort((a, b) => a.n - b.n)
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
