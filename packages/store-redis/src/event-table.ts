import type { RunKey } from '@allium/store'
import {
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
export function redisEvents(client: Client, eventTtl: number, erasures: ErasureLog): EventTable {
  /** The number of events that this process has seen, for each open run. */
  const knownSeqs = new Map<string, number>()
  const latestKey = (key: RunKey['key']) => client.key(['run', ...sessionKeyParts(key)])
  const keyCache = new WeakMap<RunKey, readonly string[]>()
  const keysOf = (run: RunKey) => {
    const cachedKeys = keyCache.get(run) ?? makeKeys(run)
    keyCache.set(run, cachedKeys)
    return cachedKeys
  }
  const makeKeys = ({ key, turnId }: RunKey) => keysUnder(latestKey(key), turnId)
  const deleteRun = (turnId: string, keys: readonly string[]) =>
    client.runScript(deleteRunScript, keys, turnId, Date.now())
  const keyOf = (run: RunKey, part: 'run' | 'events' | 'signals') =>
    client.key(['run', ...sessionKeyParts(run.key)], run.turnId, part)

  return {
    async append(run, epoch, batch, { end, mustExist, request, by }) {
      const runId = runName(run)
      const knownSeq = knownSeqs.get(runId) ?? 0
      const count = batch?.count ?? 0
      const body = batch === undefined ? '' : base64(batch.body)
      const numbers = `${epoch} ${count} ${end ? 1 : 0} ${eventTtl} ${month} ${knownSeq} ${mustExist ? 1 : 0} ${Date.now()}`
      const [outcome, result, lastSignal, listener] = (await client.runScript(
        appendScript,
        keysOf(run),
        run.turnId,
        batch?.id ?? '',
        body,
        request,
        numbers,
      )) as [string, unknown, unknown, unknown]
      if (outcome === 'taken' || outcome === 'ended' || outcome === 'gone') return { fenced: outcome }
      if (by !== undefined && !mustExist && (await erasures.isErased(by))) {
        await deleteRun(run.turnId, keysOf(run))
        return { fenced: 'gone' }
      }
      if (outcome === 'undelivered') return { undelivered: signalsFromHash(result as string[]) }
      const seq = outcome === 'lost' ? knownSeq + count : Number(result)
      if (end) knownSeqs.delete(runId)
      else knownSeqs.set(runId, seq)
      return outcome === 'lost' ? { seq } : { seq, lastSignal: Number(lastSignal), listener: Number(listener) }
    },
    async batches(run, after) {
      const rows = await client.command((redis) =>
        redis.xrange(keyOf(run, 'events'), `${after + 1}-0`, '+', 'COUNT', pageSize),
      )
      return rows.map(([prefix, fields]) => batchFromFields(Number(prefix.split('-')[0]), fields))
    },
    heads: (runs) => Promise.all(runs.map((run) => headOf(client, keyOf(run, 'run')))),
    async latest(key) {
      const turnId = await client.command((redis) => redis.get(latestKey(key)))
      const head = turnId === null ? undefined : await headOf(client, keyOf({ key, turnId }, 'run'))
      return turnId === null || head === undefined ? undefined : { turnId, seq: head.seq, ended: head.ended }
    },
    async addSignal(run, id, body) {
      const signal = JSON.stringify([id, body && base64(body)])
      const accepted = await client.runScript(
        addSignalScript,
        keysOf(run),
        id ?? '',
        id === null ? '1' : '0',
        signal,
        month,
      )
      return accepted === 1
    },
    async listen(run) {
      const number = Number(await client.runScript(listenScript, keysOf(run)))
      return number === 0 ? undefined : number
    },
    async signals(run, after) {
      const fields = await client.command((redis) => redis.hgetall(keyOf(run, 'signals')))
      return signalsFromHash(Object.entries(fields).flat()).filter(({ n }) => n > after)
    },
    async acknowledgeAtEnd(run, epoch, ns) {
      return (await client.runScript(acknowledgeAtEndScript, keysOf(run), epoch, ...ns)) === 1
    },
    async acknowledge(run, listener, n) {
      await client.runScript(acknowledgeScript, keysOf(run), listener, n)
    },
    async delete(scope) {
      if (!('sessionId' in scope)) await erasures.add(scope)
      for await (const latest of 'sessionId' in scope ? [latestKey(scope)] : sessionKeys(client, scope)) {
        const runs = await client.command((redis) => redis.zrange(`${latest}:runs`, '0', '-1'))
        for (const turnId of runs) await deleteRun(turnId, keysUnder(latest, turnId))
      }
    },
  }
}

function keysUnder(latest: string, turnId: string): string[] {
  return [...keyParts.map((part) => `${latest}:${encodeURIComponent(turnId)}:${part}`), latest, `${latest}:runs`]
}

/** Yields the session keys of an owner or a tenant. It scans all keys in Redis. */
async function* sessionKeys(client: Client, { tenant, owner }: { tenant: string; owner?: string }) {
  const prefix = ['run', tenant, ...(owner === undefined ? [] : [owner])]
  const suffix = ':runs'
  for await (const key of client.scan(prefix, suffix)) yield key.slice(0, -suffix.length)
}

async function headOf(client: Client, key: string): Promise<RunHead | undefined> {
  const fields = await client.command((redis) => redis.hmget(key, 'seq', 'lastSignal', 'listener', 'ended'))
  const [seq, lastSignal, listener, ended] = fields
  if (seq === null) return undefined
  return { seq: Number(seq), lastSignal: Number(lastSignal), listener: Number(listener), ended: ended !== null }
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
