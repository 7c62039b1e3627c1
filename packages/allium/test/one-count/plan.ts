import { random } from '../../../core/test/explore/noise.ts'

/** What a model does at one call. */
export interface Script {
  after: number
  chunks: readonly string[]
  gap: number
  end: 'finish' | 'ask' | 'delegate' | 'cut' | 'throw' | 'hang' | 'deaf'
  tells: 'all' | 'input' | 'output' | 'none' | 'zero' | 'caches'
}

export type LayerKind =
  | 'fallback'
  | 'retry'
  | 'timeout'
  | 'silence'
  | 'output'
  | 'onion'
  | 'hold'
  | 'pipe'
  | 'slow'
  | 'walks out'
  | 'blocks'
  | 'answers'
  | 'log'

/** One run: its layers from the outside, its models, and when its caller leaves. */
export interface Plan {
  seed: number
  layers: readonly LayerKind[]
  inner: readonly LayerKind[]
  models: Readonly<Record<string, readonly Script[]>>
  abortAt: number
  journal: boolean
  slowLedger: boolean
}

const kinds: readonly LayerKind[] = [
  'fallback',
  'retry',
  'timeout',
  'silence',
  'output',
  'onion',
  'hold',
  'pipe',
  'slow',
  'walks out',
  'blocks',
  'answers',
  'log',
]
const ends: readonly Script['end'][] = [
  'finish',
  'finish',
  'finish',
  'ask',
  'ask',
  'delegate',
  'delegate',
  'cut',
  'throw',
  'hang',
  'deaf',
]
const tells: readonly Script['tells'][] = ['all', 'all', 'input', 'output', 'none', 'zero', 'caches']
const words = ['one ', 'two two ', 'three', 'x', 'and quite a long one, as it comes ']

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const pick = <T>(items: readonly T[]) => items[below(items.length)] as T
  const some = <T>(most: number, make: () => T) => Array.from({ length: below(most + 1) }, make)
  const layers = (most: number) => [...new Set(some(most, () => pick(kinds)))]
  const script = (): Script => ({
    after: below(4) * 10,
    chunks: some(3, () => pick(words)),
    gap: below(3) * 10,
    end: pick(ends),
    tells: pick(tells),
  })
  const scripts = () => [script(), ...some(4, script)]
  return {
    seed,
    layers: layers(6),
    inner: layers(3),
    models: { m0: scripts(), m1: scripts(), child: scripts() },
    abortAt: next() < 0.4 ? below(30) * 7 + 1 : 100_000,
    journal: next() < 0.3,
    slowLedger: next() < 0.3,
  }
}
