import { useCallback, useEffect, useRef, useState } from 'react'
import { ask, type Refused } from './api.ts'
import { type Polling, startPolling } from './polling.ts'

/** A value together with `error` is from before the last failed update. */
export type Asked<T> =
  | { state: 'loading' }
  | { state: 'failed'; error: Refused }
  | { state: 'ready'; value: T; error?: Refused }

/** Loads the JSON at a path, if there is one. Loads it again when `change` differs, and returns the previous value until then. */
export function useAsked<T>(path: string | undefined, change: unknown = 0): [Asked<T>, () => void] {
  const [asked, set] = useState<Asked<T>>({ state: 'loading' })
  const [count, again] = useState(0)
  useEffect(() => {
    if (path === undefined) return
    let isCurrent = true
    ask<T>(path).then(
      (value) => isCurrent && set({ state: 'ready', value }),
      (error) => isCurrent && set((before) => withError(before, error)),
    )
    return () => {
      isCurrent = false
    }
  }, [path, change, count])
  return [asked, useCallback(() => again((n) => n + 1), [])]
}

export interface Live<T> {
  asked: Asked<T>
  /** Changes with each new answer, and again shortly after, because effects of a change may be delayed. */
  change: number
  refresh(): void
}

/** Loads the JSON at a path, and keeps it up to date. */
export function useLive<T>(path: string): Live<T> {
  const [asked, set] = useState<Asked<T>>({ state: 'loading' })
  const [change, setChange] = useState(0)
  const polling = useRef<Polling>(undefined)
  useEffect(() => {
    let [last, isSettled, isCurrent] = ['', true, true]
    const load = async () => {
      const value = await ask<T>(path).catch((error: Refused) => {
        if (isCurrent) set((before) => withError(before, error))
        throw error
      })
      const text = JSON.stringify(value)
      const isNew = text !== last
      if (!isCurrent) return false
      if (isNew) set({ state: 'ready', value })
      else
        set((before) => (before.state === 'ready' && before.error === undefined ? before : { state: 'ready', value }))
      if (isNew || !isSettled) setChange((count) => count + 1)
      isSettled = !isNew
      last = text
      return isNew
    }
    const started = startPolling(load)
    polling.current = started
    return () => {
      isCurrent = false
      started.stop()
    }
  }, [path])
  return { asked, change, refresh: useCallback(() => polling.current?.now(), []) }
}

function withError<T>(before: Asked<T>, error: Refused): Asked<T> {
  return before.state === 'ready' ? { ...before, error } : { state: 'failed', error }
}
