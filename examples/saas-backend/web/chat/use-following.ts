import { useEffect, useRef } from 'react'
import { retryUntilDone } from '../shared/polling.ts'

/** Reloads the conversation after a change in another tab, or after the decision of an admin. */
export function useFollowing(revision: string | undefined, busy: boolean, refresh: () => Promise<void>): void {
  const known = useRef<string>(undefined)
  useEffect(() => {
    // A busy page reads the change from its own stream.
    if (busy) known.current = revision
    if (busy || revision === known.current) return
    return retryUntilDone(async () => {
      await refresh()
      known.current = revision
    })
  }, [revision, busy, refresh])
}

/** Loads the conversation again once the server answers. */
export function useReconnect(lost: boolean, refresh: () => Promise<void>, done: () => void): void {
  useEffect(() => {
    if (!lost) return
    return retryUntilDone(
      async () => {
        await refresh()
        done()
      },
      { fastest: 1000, slowest: 15_000 },
    )
  }, [lost, refresh, done])
}
