/** A call that passed through a layer, as `observe.onion` records it. Times are milliseconds from the start of the turn. */
export interface Layer {
  layer: string
  scope: string
  subject?: string
  core: boolean
  start: number
  duration: number
  self: number
  decision: string
  entered: number
  detail?: string
  changed?: { field: string; note?: string }[]
  children: Layer[]
}

/** A layer with its depth in the onion: 0 is the outermost. */
export type Placed = Layer & { depth: number }

/** Shared by the parts of the onion's picture. */
export interface Shown {
  layers: readonly Placed[]
  chosen: number | undefined
  choose(at: number): void
}

/** All layers of a turn, each before the layers inside it. */
export function flat(layer: Layer, depth = 0): Placed[] {
  return [{ ...layer, depth }, ...layer.children.flatMap((inner) => flat(inner, depth + 1))]
}

/** How strongly a layer acted: it let the call pass, changed it, or stopped it. */
export function weightOf(decision: string): 'passed' | 'changed' | 'stopped' {
  if (decision === 'passed' || decision === 'running') return 'passed'
  return changing.has(decision) ? 'changed' : 'stopped'
}
const changing = new Set(['changed', 'skipped', 'retried', 'recovered', 'suspended'])

export function ms(time: number): string {
  return time < 10 ? `${time.toFixed(2)} ms` : time < 1000 ? `${time.toFixed(0)} ms` : `${(time / 1000).toFixed(2)} s`
}
