import { setTimeout as sleep } from 'node:timers/promises'
import { type Kind, withLoaded } from './process.ts'
import { ask, faultOf, follow, whole } from './reader.ts'
import { type StreamOptions, streamFigures } from './streams.ts'

export interface LoadOptions extends StreamOptions {
  /** Requests of each kind of answer. */
  requests: number
}

/** What was measured, and whether that is enough. */
export interface Figure {
  name: string
  value: string
  ok: boolean
}

export async function load(options: LoadOptions): Promise<Figure[]> {
  return [
    ...(await streamFigures(options)),
    await pausedReaders(),
    await answers(options, 1),
    await answers(options, 200),
  ]
}

const readers = 100
const most = 256 * 1024

/** What readers keep that stand still, of a run whose events are more than all buffers on the way to them take. */
async function pausedReaders(): Promise<Figure> {
  return withLoaded('memory', undefined, async ({ url, take }) => {
    const session = 'paused'
    await faultOf(await ask(url, '600x0x20000', session), 600)
    // One that stays is there in both.
    const first = (await follow(url, session)).pause()
    await sleep(500)
    const before = await take()
    const paused = await Promise.all(Array.from({ length: readers }, async () => (await follow(url, session)).pause()))
    await sleep(2000)
    const after = await take()
    for (const reader of [first, ...paused]) reader.destroy()
    const each = (after.memory - before.memory) / readers
    return { name: 'a reader that stands still, ≤ 256 kB', value: `${(each / 1024).toFixed(0)} kB`, ok: each <= most }
  })
}

/** Answers of so many chunks, without a pause: told, and not judged. */
async function answers({ requests }: LoadOptions, chunks: number): Promise<Figure> {
  const [bare, allium] = [await asked('bare'), await asked('memory')]
  const told = ({ rate, cpu }: { rate: number; cpu: number }) => `${rate.toFixed(0)}/s at ${cpu.toFixed(0)} µs`
  const value = `${told(allium)}, bare ${told(bare)}: ${(allium.cpu / bare.cpu).toFixed(1)} × the CPU`
  return { name: `answers of ${chunks} chunk${chunks === 1 ? '' : 's'}`, value, ok: true }

  async function asked(kind: Kind) {
    return withLoaded(kind, undefined, async ({ url, reset, take }) => {
      const many = async (count: number) => {
        let left = count
        const one = async () => {
          while (left-- > 0) await whole(url, `${chunks}x0`, chunks)
        }
        await Promise.all(Array.from({ length: 16 }, one))
      }
      await many(requests / 2)
      const before = await reset()
      const began = performance.now()
      await many(requests)
      const took = (performance.now() - began) / 1000
      return { rate: requests / took, cpu: ((await take()).cpu - before.cpu) / requests }
    })
  }
}
