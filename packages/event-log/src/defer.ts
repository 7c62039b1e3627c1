/** Runs a function after the events of this tick of the event loop have arrived. Returns a function that cancels it. */
export function defer(fn: () => void): () => void {
  const { setImmediate: immediate, clearImmediate: clear } = globalThis as unknown as Partial<Immediates>
  if (immediate === undefined || clear === undefined) return delay(fn, 0)
  const handle = immediate(fn)
  return () => clear(handle)
}

/** Runs a function later. Returns a function that cancels it. */
export function delay(fn: () => void, ms: number): () => void {
  const timer = setTimeout(fn, ms)
  return () => clearTimeout(timer)
}

interface Immediates {
  setImmediate(fn: () => void): unknown
  clearImmediate(handle: unknown): void
}
