import { setTimeout as sleep } from 'node:timers/promises'
import { type Kind, type Loaded, startLoaded } from './process.ts'
import { ask, faultOf, follow } from './reader.ts'

export interface LoadOptions {
  /** Streams at once. */
  streams: number
  seconds: number
  /** Requests of each kind of answer. */
  requests: number
  /** A Redis that may be flushed. @default what needs one is left out */
  redis?: string | undefined
  tell(line: string): void
}

/** What was measured, and whether that is enough. */
export interface Figure {
  name: string
  value: string
  ok: boolean
}

/** Milliseconds between two chunks of a stream. */
const pause = 50

export async function load(options: LoadOptions): Promise<Figure[]> {
  const { redis } = options
  const bare = await underStreams('bare', options)
  const memory = await underStreams('memory', options)
  const shared = redis === undefined ? undefined : await underStreams('redis', options, redis)
  return [
    ...streamFigures('log in memory', memory, bare, 1.5),
    ...(shared === undefined ? [] : streamFigures('log in Redis', shared, bare, 2)),
    await pausedReaders(),
    ...(await answers(options, 1)),
    ...(await answers(options, 200)),
  ]
}

interface UnderStreams {
  /** Microseconds of CPU for a chunk. */
  cpu: number
  delay: number
  faults: string[]
}

function streamFigures(name: string, { cpu, delay, faults }: UnderStreams, bare: UnderStreams, most: number): Figure[] {
  const ratio = cpu / bare.cpu
  return [
    {
      name: `${name}: streams with an error`,
      value: `${faults.length} ${faults[0] ?? ''}`.trim(),
      ok: faults.length === 0,
    },
    {
      name: `${name}: CPU of a chunk beside a bare handler, ≤ ${most}`,
      value: `${ratio.toFixed(2)} (${cpu.toFixed(0)} µs, ${bare.cpu.toFixed(0)} µs)`,
      ok: ratio <= most,
    },
    { name: `${name}: event loop, p99 < 100 ms`, value: `${delay.toFixed(0)} ms`, ok: delay < 100 },
  ]
}

/** All streams at once, a chunk of each every 50 ms. */
async function underStreams(
  kind: Kind,
  { streams, seconds, tell }: LoadOptions,
  redis?: string,
): Promise<UnderStreams> {
  return withProcess(kind, redis, async (loaded) => {
    const chunks = Math.round((seconds * 1000) / pause)
    await Promise.all(Array.from({ length: 20 }, () => whole(loaded.url, '50x1', 50)))
    const before = await loaded.reset()
    const found = await Promise.all(
      Array.from({ length: streams }, async (_, at) => {
        // They begin one after the other within a chunk's time, as people do, and not at one moment.
        await sleep((at * pause) / streams)
        return whole(loaded.url, `${chunks}x${pause}`, chunks)
      }),
    )
    const after = await loaded.take()
    const faults = found.flatMap((fault) => fault ?? [])
    const cpu = (after.cpu - before.cpu) / (streams * chunks)
    tell(
      `${kind}: ${streams} streams, ${chunks} chunks each, ${cpu.toFixed(1)} µs a chunk, p99 ${after.delay.toFixed(0)} ms`,
    )
    return { cpu, delay: after.delay, faults }
  })
}

const readers = 100
const most = 256 * 1024

/** What readers keep that stand still, of a run whose events are more than all buffers on the way to them take. */
async function pausedReaders(): Promise<Figure> {
  return withProcess('memory', undefined, async (loaded) => {
    const session = 'paused'
    await faultOf(await ask(loaded.url, '600x0x20000', session), 600)
    // One that stays is there in both.
    const first = (await follow(loaded.url, session)).pause()
    await sleep(500)
    const before = await loaded.take()
    const paused = await Promise.all(
      Array.from({ length: readers }, async () => (await follow(loaded.url, session)).pause()),
    )
    await sleep(2000)
    const after = await loaded.take()
    for (const reader of [first, ...paused]) reader.destroy()
    const each = (after.memory - before.memory) / readers
    return { name: 'a reader that stands still, ≤ 256 kB', value: `${(each / 1024).toFixed(0)} kB`, ok: each <= most }
  })
}

/** Answers of so many chunks, without a pause: told, and not judged. */
async function answers({ requests }: LoadOptions, chunks: number): Promise<Figure[]> {
  const [bare, allium] = [await asked('bare'), await asked('memory')]
  const told = ({ rate, cpu }: { rate: number; cpu: number }) => `${rate.toFixed(0)}/s at ${cpu.toFixed(0)} µs`
  const value = `${told(allium)}, bare ${told(bare)}: ${(allium.cpu / bare.cpu).toFixed(1)} × the CPU`
  return [{ name: `answers of ${chunks} chunk${chunks === 1 ? '' : 's'}`, value, ok: true }]

  async function asked(kind: Kind) {
    return withProcess(kind, undefined, async ({ url, reset, take }) => {
      const many = async (count: number) => {
        let left = count
        const one = async () => {
          while (left-- > 0) await whole(url, `${chunks}x0`, chunks)
        }
        await Promise.all(Array.from({ length: 16 }, one))
      }
      await many(requests / 5)
      const before = await reset()
      const began = performance.now()
      await many(requests)
      const took = (performance.now() - began) / 1000
      return { rate: requests / took, cpu: ((await take()).cpu - before.cpu) / requests }
    })
  }
}

async function whole(url: string, input: string, chunks: number): Promise<string | undefined> {
  return ask(url, input).then(
    (response) => faultOf(response, chunks),
    (error) => String(error),
  )
}

async function withProcess<T>(kind: Kind, redis: string | undefined, work: (loaded: Loaded) => Promise<T>): Promise<T> {
  const loaded = await startLoaded(kind, redis)
  try {
    return await work(loaded)
  } finally {
    await loaded.end()
  }
}
