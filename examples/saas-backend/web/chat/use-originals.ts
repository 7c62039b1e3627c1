import { useRef } from 'react'
import type { Originals } from '../shared/kept.tsx'
import type { ToolPart } from './tool-card.tsx'

/**
 * Returns the original values of a call's placeholders. A call that asks for approval has its original arguments. After the decision, the
 * history has placeholders, so the page remembers the values until it is reloaded.
 */
export function useOriginals({ state, input }: ToolPart): Originals {
  const asked = useRef<Record<string, unknown>>({})
  if (state === 'approval-requested') asked.current = input as Record<string, unknown>
  const fields = Object.entries((input ?? {}) as Record<string, unknown>)
  return new Map(
    fields.flatMap(([name, placeholder]): [string, string][] => {
      const original = asked.current[name]
      const isHidden =
        /^\[[A-Z]+_\d+\]$/.test(String(placeholder)) && typeof original === 'string' && original !== placeholder
      return isHidden ? [[String(placeholder), original]] : []
    }),
  )
}
