import { type ReactNode, useEffect, useRef } from 'react'
import { Name } from '../shared/name.tsx'
import { sentenceOf } from '../shared/problems.ts'
import type { Asked } from '../shared/use-asked.ts'

export interface PanelProps<T> {
  title: string
  asked: Asked<T>
  /** The text of an empty panel; undefined if it has content. */
  empty?(value: T): string | undefined
  wide?: boolean
  /** Scrolls into view and takes the focus, after a click elsewhere. */
  isOpened?: boolean
  children(value: T): ReactNode
}

/** A part of the page with data from the server, or with the reason why it could not be loaded. */
export function Panel<T>({ title, asked, empty, wide, isOpened = false, children }: PanelProps<T>) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isOpened) heading.current?.focus()
  }, [isOpened])
  return (
    <section className={wide ? 'panel wide' : 'panel'} aria-busy={asked.state === 'loading'}>
      <h2 ref={heading} tabIndex={-1}>
        <Name of={title} />
      </h2>
      {asked.state === 'loading' && <p className="quiet loading">Loading…</p>}
      {asked.state === 'failed' && (
        <p className="error-text" role="alert">
          {sentenceOf(asked.error)}
        </p>
      )}
      {asked.state === 'ready' && <Content value={asked.value} {...{ empty, children }} />}
    </section>
  )
}

function Content<T>({ value, empty, children }: { value: T } & Pick<PanelProps<T>, 'empty' | 'children'>) {
  const nothing = empty?.(value)
  return nothing === undefined ? children(value) : <p className="quiet">{nothing}</p>
}

export function pathOf(...parts: string[]): string {
  return `/admin/api/${parts.map(encodeURIComponent).join('/')}`
}

export function timeOf(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}
