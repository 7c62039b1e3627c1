import type { ReactNode } from 'react'
import { sentenceOf } from './problems.ts'

export function Loading({ of = 'Loading…' }: { of?: string }) {
  return (
    <p className="page-state loading" aria-busy="true">
      {of}
    </p>
  )
}

/** Explains why something could not be loaded, with a button to try again. */
export function Failed({ error, again }: { error: Error; again(): void }) {
  return (
    <div className="page-state" role="alert">
      <p>{sentenceOf(error)}</p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  )
}

/** A part of a page that could not be rendered. */
export function Broken({ children }: { children: ReactNode }) {
  return (
    <p className="notice error" role="alert">
      {children}
    </p>
  )
}
