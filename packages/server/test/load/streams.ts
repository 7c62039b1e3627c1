import { setTimeout as sleep } from 'node:timers/promises'
import type { Figure } from './load.ts'
import { type Kind, withLoaded } from './process.ts'
import { whole } from './reader.ts'

export interface StreamOptions {
  /** Streams at once. */
  streams: number
  seconds: number
  /** A Redis that may be flushed. */
  redis?: string | undefined
  tell(line: string): void
}

export interface UnderStreams {
  /** Microseconds of CPU for a chunk. */
  cpu: number
  delay: number
  faults: string[]
}

/** Milliseconds between two chunks of a stream. */
const pause = 50

/** All streams at once, a chunk of each every 50 ms. */
export function underStreams(kind: Kind, { streams, seconds, redis, tell }: StreamOptions): Promise<UnderStreams> {
  return withLoaded(kind, redis, async ({ url, reset, take }) => {
    const chunks = Math.round((seconds * 1000) / pause)
    // What warms up takes as many streams, and is short.
    await Promise.all(Array.from({ length: streams }, () => whole(url, `40x${pause}`, 40)))
    const before = await reset()
    const found = await Promise.all(
      Array.from({ length: streams }, async (_, at) => {
        // They begin one after the other within a chunk's time, as people do, and not at one moment.
        await sleep((at * pause) / streams)
        return whole(url, `${chunks}x${pause}`, chunks)
      }),
    )
    const after = await take()
    const cpu = (after.cpu - before.cpu) / (streams * chunks)
    tell(
      `${kind}: ${streams} streams, ${chunks} chunks each, ${cpu.toFixed(1)} µs a chunk, p99 ${after.delay.toFixed(0)} ms`,
    )
    return { cpu, delay: after.delay, faults: found.flatMap((fault) => fault ?? []) }
  })
}

/** A machine is not as fast all the time: the bare handler is measured before and after what stands beside it. */
export async function streamFigures(options: StreamOptions): Promise<Figure[]> {
  const first = await underStreams('bare', options)
  const memory = await underStreams('memory', options)
  const shared = options.redis === undefined ? undefined : await underStreams('redis', options)
  const last = await underStreams('bare', options)
  const bare = (first.cpu + last.cpu) / 2
  return [
    ...judged('log in memory', memory, bare, 1.5),
    ...(shared === undefined ? [] : judged('log in Redis', shared, bare, 2)),
  ]
}

function judged(name: string, { cpu, delay, faults }: UnderStreams, bare: number, most: number): Figure[] {
  const ratio = cpu / bare
  return [
    {
      name: `${name}: streams with an error`,
      value: `${faults.length} ${faults[0] ?? ''}`.trim(),
      ok: faults.length === 0,
    },
    {
      name: `${name}: CPU of a chunk beside a bare handler, ≤ ${most}`,
      value: `${ratio.toFixed(2)} (${cpu.toFixed(0)} µs, ${bare.toFixed(0)} µs)`,
      ok: ratio <= most,
    },
    { name: `${name}: event loop, p99 < 100 ms`, value: `${delay.toFixed(0)} ms`, ok: delay < 100 },
  ]
}
