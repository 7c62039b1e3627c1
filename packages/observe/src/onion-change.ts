import type { ModelContext, ToolContext, TurnView } from '@allium/core'
import type { OnionChange, TracedScope } from './onion-turn.ts'
import { plainJson } from './plain-data.ts'

/** The input of a call as a layer receives it. Fields are compared by value only if they are different objects. */
export type InputSnapshot = { readonly [Field in OnionChange['field']]?: unknown }

/**
 * Does not read the turn's messages, because that would copy the history. Reads the plan, because the context belongs to another layer and
 * would record a read of the input by that layer.
 */
export function takeInputSnapshot(scope: TracedScope, ctx: TurnView): InputSnapshot {
  if (scope === 'turn') {
    const { input, maxSteps } = ctx.plan
    return { input: [...input], maxSteps }
  }
  if (scope === 'tool') return { args: json((ctx as ToolContext).args) }
  const { model, request } = ctx as ModelContext
  const { messages, tools, settings, toolChoice, responseFormat } = request
  return { model, messages, tools, settings, toolChoice, responseFormat }
}

export function changesIn(before: InputSnapshot, after: InputSnapshot): OnionChange[] {
  const changes: OnionChange[] = []
  for (const field of Object.keys(after) as OnionChange['field'][]) {
    const [previous, now] = [before[field], after[field]]
    if (previous === now || (!hasOtherLength(previous, now) && json(previous) === json(now))) continue
    const note = noteOn(field, previous, now)
    changes.push({ field, ...(note !== undefined && { note }) })
  }
  return changes
}

/** A list of another length differs. To compare a long history as JSON would take longer than most layers. */
function hasOtherLength(previous: unknown, now: unknown): boolean {
  return Array.isArray(previous) && Array.isArray(now) && previous.length !== now.length
}

/** Returns how much changed, without any content. */
function noteOn(field: OnionChange['field'], previous: unknown, now: unknown): string | undefined {
  if (Array.isArray(previous) && Array.isArray(now))
    return previous.length === now.length ? undefined : `${previous.length} → ${now.length}`
  if (field === 'model' || field === 'maxSteps') return `${previous} → ${now}`
  return field === 'settings' ? keysThatDiffer(previous as object, now as object).join(', ') : undefined
}

function keysThatDiffer(previous: object, now: object): string[] {
  const keys = new Set([...Object.keys(previous), ...Object.keys(now)])
  const of = (holder: object, key: string) => json((holder as Record<string, unknown>)[key])
  return [...keys].filter((key) => of(previous, key) !== of(now, key))
}

function json(value: unknown): string {
  return typeof value === 'string' ? value : plainJson(value)
}
