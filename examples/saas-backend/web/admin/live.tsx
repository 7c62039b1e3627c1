import { createContext, useContext } from 'react'
import { sentenceOf } from '../shared/problems.ts'
import { type Asked, type Live, useAsked } from '../shared/use-asked.ts'

/** One poll for the whole page: the list of sessions. When it changes, every panel loads its data again. */
const Change = createContext<Pick<Live<unknown>, 'change' | 'refresh'>>({ change: 0, refresh() {} })
export const LiveProvider = Change.Provider

/** Loads the JSON at a path, again whenever a session of the tenant changes. */
export function usePanel<T>(path: string | undefined): Asked<T> {
  const [asked] = useAsked<T>(path, useContext(Change).change)
  return asked
}

/** Returns a function that looks for changes now instead of a little later. */
export function useRefresh(): () => void {
  return useContext(Change).refresh
}

/** Tells whether the page is up to date. */
export function LiveStatus({ asked }: { asked: Asked<unknown> }) {
  const error = asked.state === 'loading' ? undefined : asked.error
  return (
    <p className={error ? 'live lost' : 'live'} role="status">
      {error ? `Not up to date. ${sentenceOf(error)} Trying again…` : 'Live'}
    </p>
  )
}
