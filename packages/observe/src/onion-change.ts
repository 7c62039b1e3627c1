import type { Message, ModelContext, ToolContext, TurnContext } from '@allium/core'
import type { OnionChange, TracedScope } from './onion-turn.ts'
import { plain } from './plain.ts'

/** What a call asks for, as a layer finds it: compared by value only where the object is another one. */
export type Asked = ReadonlyMap<OnionChange['field'], unknown>

/** Of the turn's messages nothing is read: to look at them makes a copy of the history. */
export function askedOf(scope: TracedScope, ctx: TurnContext): Asked {
  if (scope === 'turn') return new Map<OnionChange['field'], unknown>(Object.entries(turnFields(ctx)) as never)
  if (scope === 'tool') return new Map([['args', json((ctx as ToolContext).args)]])
  const { model, request } = ctx as ModelContext
  const { messages, tools, settings, toolChoice, responseFormat } = request
  return new Map(Object.entries({ model, messages, tools, settings, toolChoice, responseFormat }) as never)
}

export function changesIn(before: Asked, after: Asked): OnionChange[] {
  const changes: OnionChange[] = []
  for (const [field, now] of after) {
    const was = before.get(field)
    if (was === now || json(was) === json(now)) continue
    const note = noteOn(field, was, now)
    changes.push({ field, ...(note !== undefined && { note }) })
  }
  return changes
}

/** By the plan, since the context is another layer's: it is not that one who looks at the input. */
function turnFields({ plan, maxSteps }: TurnContext): { input: readonly Message[]; maxSteps: number } {
  return { input: [...plan.input], maxSteps }
}

/** How much changed and where, and nothing of what is said. */
function noteOn(field: OnionChange['field'], was: unknown, now: unknown): string | undefined {
  if (Array.isArray(was) && Array.isArray(now))
    return was.length === now.length ? undefined : `${was.length} → ${now.length}`
  if (field === 'model' || field === 'maxSteps') return `${was} → ${now}`
  return field === 'settings' ? keysThatDiffer(was as object, now as object).join(', ') : undefined
}

function keysThatDiffer(was: object, now: object): string[] {
  const keys = new Set([...Object.keys(was), ...Object.keys(now)])
  const of = (one: object, key: string) => json((one as Record<string, unknown>)[key])
  return [...keys].filter((key) => of(was, key) !== of(now, key))
}

function json(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(plain(value))
}
