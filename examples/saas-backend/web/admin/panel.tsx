import type { ReactNode } from 'react'
import { useAsked } from '../shared/use-asked.ts'

export interface PanelProps<T> {
  title: string
  path: string
  /** What it says where there is nothing; undefined where there is something. */
  empty?(value: T): string | undefined
  wide?: boolean
  children(value: T): ReactNode
}

/** A part of the page with an answer of the server in it, or why there is none. */
export function Panel<T>({ title, path, empty, wide, children }: PanelProps<T>) {
  const [asked, again] = useAsked<T>(path)
  const none = asked.state === 'ready' ? empty?.(asked.value) : undefined
  return (
    <section className={wide ? 'panel wide' : 'panel'} aria-busy={asked.state === 'loading'}>
      <header>
        <h2>{title}</h2>
        <button type="button" className="plain" onClick={again} aria-label={`Reload: ${title}`}>
          Reload
        </button>
      </header>
      {asked.state === 'loading' && <p className="quiet">Loading…</p>}
      {asked.state === 'failed' && (
        <p className="error-text" role="alert">
          {asked.error.message}
        </p>
      )}
      {asked.state === 'ready' && (none === undefined ? children(asked.value) : <p className="quiet">{none}</p>)}
    </section>
  )
}

export function pathOf(...parts: string[]): string {
  return `/admin/api/${parts.map(encodeURIComponent).join('/')}`
}

export function timeOf(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}
