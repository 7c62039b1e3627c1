/** Adds `Promise.withResolvers` of ES2024 if it is missing. Restate's SDK needs it as a global, and Node has it from 22 on. */
export function polyfillWithResolvers(): void {
  if ('withResolvers' in Promise) return
  Object.defineProperty(Promise, 'withResolvers', { value: withResolvers, configurable: true, writable: true })
}

function withResolvers() {
  let settle: { resolve?: unknown; reject?: unknown } = {}
  const promise = new Promise((resolve, reject) => (settle = { resolve, reject }))
  return { promise, ...settle }
}
