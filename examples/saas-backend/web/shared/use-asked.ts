import { useCallback, useEffect, useState } from 'react'
import { ask, type Refused } from './api.ts'

export type Asked<T> = { state: 'loading' } | { state: 'failed'; error: Refused } | { state: 'ready'; value: T }

/** What a path answers, and a function that asks again. */
export function useAsked<T>(path: string): [Asked<T>, () => void] {
  const [asked, set] = useState<Asked<T>>({ state: 'loading' })
  const [count, again] = useState(0)
  useEffect(() => {
    let current = true
    ask<T>(path).then(
      (value) => current && set({ state: 'ready', value }),
      (error) => current && set({ state: 'failed', error }),
    )
    return () => {
      current = false
    }
  }, [path, count])
  return [asked, useCallback(() => again((n) => n + 1), [])]
}
