import { useSyncExternalStore } from 'react'

/** A value that outlives a reload of the page, and ends with the tab. */
export interface TabValue<T> {
  get(): T
  set(next: T): void
  subscribe(listener: () => void): () => void
}

export function tabValue<T>(key: string, initial: T): TabValue<T> {
  let value = read(key, initial)
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      value = next
      write(key, next)
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useTabValue<T>({ subscribe, get }: Pick<TabValue<T>, 'get' | 'subscribe'>): T {
  return useSyncExternalStore(subscribe, get)
}

/** Deletes the user's data from the tab when they sign out. */
export function clearTabValues(): void {
  sessionStorage.clear()
}

function read<T>(key: string, initial: T): T {
  try {
    const text = sessionStorage.getItem(key)
    return text === null ? initial : (JSON.parse(text) as T)
  } catch {
    return initial
  }
}

/** If storage is full or blocked, the value is only in memory. */
function write(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value))
  } catch {}
}
