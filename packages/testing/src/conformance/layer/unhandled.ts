/** Collects unhandled rejections while `work` runs. Without a process or a window it collects none. */
export async function withUnhandled<T>(work: () => Promise<T>): Promise<{ value: T; unhandled: unknown[] }> {
  const unhandled: unknown[] = []
  const stop = listen((error) => unhandled.push(error))
  try {
    const value = await work()
    await macrotask()
    await macrotask()
    return { value, unhandled }
  } finally {
    stop()
  }
}

/** Resolves after every promise that can settle without a timer has settled. */
export function macrotask(): Promise<void> {
  const { setImmediate = setTimeout } = globalThis
  return new Promise((resolve) => setImmediate(resolve))
}

function listen(onError: (error: unknown) => void): () => void {
  const { process, addEventListener, removeEventListener } = globalThis as unknown as ProcessEvents
  if (typeof process?.on === 'function') {
    process.on('unhandledRejection', onError)
    return () => void process.off('unhandledRejection', onError)
  }
  const listener = (event: { reason: unknown }) => onError(event.reason)
  addEventListener?.('unhandledrejection', listener)
  return () => removeEventListener?.('unhandledrejection', listener)
}

interface ProcessEvents {
  process?: {
    on?(name: string, listener: (error: unknown) => void): unknown
    off(name: string, listener: (error: unknown) => void): unknown
  }
  addEventListener?(name: string, listener: (event: { reason: unknown }) => void): void
  removeEventListener?(name: string, listener: (event: { reason: unknown }) => void): void
}
