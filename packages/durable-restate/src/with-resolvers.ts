/**
 * Restate's SDK asks for `Promise.withResolvers`, which Node has from 22 on. Where it is missing it is put there, as ES2024 has it:
 * the SDK reads the global, so there is no other place.
 */
export function polyfillWithResolvers(): void {
  if ('withResolvers' in Promise) return
  Object.defineProperty(Promise, 'withResolvers', { value: withResolvers, configurable: true, writable: true })
}

function withResolvers() {
  let settle: { resolve?: unknown; reject?: unknown } = {}
  const promise = new Promise((resolve, reject) => (settle = { resolve, reject }))
  return { promise, ...settle }
}
