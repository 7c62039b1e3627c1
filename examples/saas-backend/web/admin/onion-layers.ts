/** A passage of a call through a layer, as `observe.onion` records it. Times are milliseconds from the start of the turn. */
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

/** One in its place: 0 is the outermost. */
export type Placed = Layer & { depth: number }

/** All layers of a turn, each before those inside of it. */
export function flat(layer: Layer, depth = 0): Placed[] {
  return [{ ...layer, depth }, ...layer.children.flatMap((inner) => flat(inner, depth + 1))]
}
