import type { SessionItem } from './sessions.ts'

const key = 'allium:session'

/** Returns the session that this tab showed before it was reloaded. */
export function readSelection(): SessionItem | undefined {
  return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as SessionItem | null) ?? undefined
}

/** Keeps the session for a reload of the page. A look at a read-only session is audited, so it is not repeated. */
export function keepSelection(item: SessionItem | undefined): void {
  if (item === undefined || item.isReadOnly === true) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, JSON.stringify(item))
}
