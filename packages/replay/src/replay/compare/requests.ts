import { fromJson, type Message, toJson } from '@allium/core'
import { equalJson } from '@allium/core/internal'
import type { ReplayDifference } from '../replayed-turn.ts'
import { textOf } from './short-text.ts'
import type { StepNames } from './steps.ts'
import type { RequestFacts, TurnFacts } from './turn-facts.ts'

/** Compares the requests of the model calls that both turns made. */
export function requestDifferences(recorded: TurnFacts, replayed: TurnFacts, names: StepNames): ReplayDifference[] {
  const before = new Map(recorded.requests.map((request) => [keyOf(request), request]))
  return replayed.requests.flatMap((request) => {
    const other = before.get(keyOf(request))
    return other === undefined ? [] : differencesOf(other, request, names.model(request.turnId, request.call))
  })
}

function keyOf({ turnId, call, attempt }: RequestFacts): string {
  return `${turnId}\n${call}:${attempt}`
}

function differencesOf(before: RequestFacts, now: RequestFacts, step: string): ReplayDifference[] {
  const differences: ReplayDifference[] = []
  const add = (field: string, recorded: unknown, replayed: unknown) => {
    if (isEqual(recorded, replayed)) return
    const layerless = { kind: 'request', step, field } as const
    differences.push({ ...layerless, recorded: textOf(recorded), replayed: textOf(replayed) })
  }
  for (const field of Object.keys(before.fields) as (keyof RequestFacts['fields'])[])
    add(field, before.fields[field], now.fields[field])
  for (let at = 0; at < Math.max(before.messages.length, now.messages.length); at++)
    add(`messages[${at}]`, sent(before.messages[at]), sent(now.messages[at]))
  return differences
}

/** Marks of a message that no model receives, such as its id on a page, are not compared. */
function sent(message: Message | undefined): unknown {
  if (message === undefined) return undefined
  const { role, content } = message
  return { role, content }
}

/** A recording has values as JSON. Most of them are equal without a conversion. */
function isEqual(recorded: unknown, replayed: unknown): boolean {
  return equalJson(recorded, replayed) || equalJson(recorded, plain(replayed))
}

function plain(value: unknown): unknown {
  try {
    return fromJson(toJson(value))
  } catch {
    return value
  }
}
