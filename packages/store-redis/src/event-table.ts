import type { RunKey } from '@allium/core'
import {
  type AskedSignal,
  type EventTable,
  month,
  type RunHead,
  runName,
  type StoredBatch,
  sessionParts,
} from '@allium/store-sql'
import type { Client } from './client.ts'
import type { Erasures } from './erasures.ts'
import { appendScript, askScript, dealScript, forgetScript, listenScript, takeScript } from './event-scripts.ts'

/** What Redis keeps of a run, each under a key of its own. */
const parts = ['run', 'events', 'signals', 'steers'] as const

/** Batches that a reader gets at a time. */
const most = 64

/** Events of runs as streams of Redis. */
export function redisEvents(client: Client, eventTtl: number, erasures: Erasures): EventTable {
  /** How many events of its open runs this process has seen. */
  const known = new Map<string, number>()
  const latestKey = (key: RunKey['key']) => client.key(['run', ...sessionParts(key)])
  const keys = new WeakMap<RunKey, readonly string[]>()
  const keysOf = (run: RunKey) => {
    const made = keys.get(run) ?? makeKeys(run)
    keys.set(run, made)
    return made
  }
  const makeKeys = ({ key, turnId }: RunKey) => keysUnder(latestKey(key), turnId)
  const forget = (turnId: string, keys: readonly string[]) => client.run(forgetScript, keys, turnId, Date.now())
  const keyOf = (run: RunKey, part: 'run' | 'events' | 'signals') =>
    client.key(['run', ...sessionParts(run.key)], run.turnId, part)

  return {
    async append(run, epoch, batch, { end, mustExist, request, by }) {
      const name = runName(run)
      const knows = known.get(name) ?? 0
      const count = batch?.count ?? 0
      const body = batch === undefined ? '' : base64(batch.body)
      const [outcome, given, asked, listener] = (await client.run(
        appendScript,
        keysOf(run),
        ...[run.turnId, epoch, batch?.id ?? '', count, body, end ? '1' : '0', eventTtl, month, knows, request],
        ...[mustExist ? '1' : '0', String(Date.now())],
      )) as [string, unknown, unknown, unknown]
      if (outcome === 'taken' || outcome === 'ended' || outcome === 'gone') return { fenced: outcome }
      if (by !== undefined && !mustExist && (await erasures.isErased(by))) {
        await forget(run.turnId, keysOf(run))
        return { fenced: 'gone' }
      }
      if (outcome === 'unheard') return { unheard: signalsIn(given as string[]) }
      const seq = outcome === 'lost' ? knows + count : Number(given)
      if (end) known.delete(name)
      else known.set(name, seq)
      return outcome === 'lost' ? { seq } : { seq, asked: Number(asked), listener: Number(listener) }
    },
    async batches(run, after) {
      const rows = await client.ask((redis) => redis.xrange(keyOf(run, 'events'), `${after + 1}-0`, '+', 'COUNT', most))
      return rows.map(([place, fields]) => batchIn(Number(place.split('-')[0]), fields))
    },
    heads: (runs) => Promise.all(runs.map((run) => headOf(client, keyOf(run, 'run')))),
    async latest(key) {
      const turnId = await client.ask((redis) => redis.get(latestKey(key)))
      const head = turnId === null ? undefined : await headOf(client, keyOf({ key, turnId }, 'run'))
      return turnId === null || head === undefined ? undefined : { turnId, seq: head.seq, ended: head.ended }
    },
    async ask(run, id, body) {
      const signal = JSON.stringify([id, body && base64(body)])
      const kept = await client.run(askScript, keysOf(run), id ?? '', id === null ? '1' : '0', signal, month)
      return kept === 1
    },
    async listen(run) {
      const number = Number(await client.run(listenScript, keysOf(run)))
      return number === 0 ? undefined : number
    },
    async asked(run, after) {
      const fields = await client.ask((redis) => redis.hgetall(keyOf(run, 'signals')))
      return signalsIn(Object.entries(fields).flat()).filter(({ n }) => n > after)
    },
    async take(run, epoch, ns) {
      return (await client.run(takeScript, keysOf(run), epoch, ...ns)) === 1
    },
    async deal(run, listener, n) {
      await client.run(dealScript, keysOf(run), listener, n)
    },
    async delete(of) {
      if (!('sessionId' in of)) await erasures.add(of)
      for await (const latest of 'sessionId' in of ? [latestKey(of)] : sessionsIn(client, of)) {
        const runs = await client.ask((redis) => redis.zrange(`${latest}:runs`, '0', '-1'))
        for (const turnId of runs) await forget(turnId, keysUnder(latest, turnId))
      }
    },
  }
}

function keysUnder(latest: string, turnId: string): string[] {
  return [...parts.map((part) => `${latest}:${encodeURIComponent(turnId)}:${part}`), latest, `${latest}:runs`]
}

/** The keys of an owner's or a tenant's sessions: it looks through all keys of Redis. */
async function* sessionsIn(client: Client, { tenant, owner }: { tenant: string; owner?: string }) {
  const place = ['run', tenant, ...(owner === undefined ? [] : [owner])]
  const behind = ':runs'
  for await (const key of client.scan(place, behind)) yield key.slice(0, -behind.length)
}

async function headOf(client: Client, key: string): Promise<RunHead | undefined> {
  const fields = await client.ask((redis) => redis.hmget(key, 'seq', 'asked', 'listener', 'ended'))
  const [seq, asked, listener, ended] = fields
  if (seq === null) return undefined
  return { seq: Number(seq), asked: Number(asked), listener: Number(listener), ended: ended !== null }
}

/** A batch stands at the place of its last event. */
function batchIn(last: number, fields: readonly string[]): StoredBatch {
  const [, id = '', , count = '0', , body = ''] = fields
  return { first: last - Number(count) + 1, count: Number(count), id, body: Buffer.from(body, 'base64') }
}

/** Numbers and signals in turns, as a hash gives them, in no order. */
function signalsIn(fields: readonly string[]): AskedSignal[] {
  const signals: AskedSignal[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const [id, body] = JSON.parse(fields[i + 1] ?? '[]') as [string | null, string | null]
    signals.push({ n: Number(fields[i]), id, body: body === null ? null : Buffer.from(body, 'base64') })
  }
  return signals.sort((a, b) => a.n - b.n)
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
