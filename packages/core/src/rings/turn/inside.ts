import { addUsage, noUsage, type Usage } from '../../messages/usage.ts'
import type { StoredRecord } from '../../seams/session-store.ts'
import type { ToolResult } from '../../tool/tool-result.ts'
import type { SessionScope } from '../session/session-scope.ts'
import type { ToolAttempt } from '../tool/context.ts'

/**
 * What the sub-agents of a call did to the turns around it. It is recorded with the call's step, because a replay of that does
 * not run them.
 */
export interface Inside {
  readonly usage: Usage
  /** Kept with the run of the agent so many above the call's own. */
  readonly records: { up: number; record: StoredRecord }[]
  /** What inherited layers wrote to the state of one. */
  readonly writes: { up: number; key: string; value: unknown }[]
}

type Recorded = ToolResult & { inside?: Inside }

/** The call's step runs here: what is done inside is noted from now on. */
export function watchInside(core: ToolAttempt): void {
  core.$inside = { usage: noUsage(), records: [], writes: [] }
}

/** The result as the journal keeps it. */
export function withInside({ $inside: inside }: ToolAttempt, result: ToolResult): Recorded {
  if (inside === undefined) return result
  const { usage, records, writes } = inside
  return usage.calls + records.length + writes.length === 0 ? result : { ...result, inside }
}

/** The result as layers see it. Where its step did not run here, what was done inside it is done now. */
export function takeInside(core: ToolAttempt, recorded: Recorded): ToolResult {
  const { inside, ...result } = recorded
  if (inside === undefined) return recorded
  if (core.$inside !== undefined) return result
  const { $turn: turn } = core
  turn.countAll(inside.usage)
  for (const { up, record } of inside.records) {
    let at = turn
    for (let left = up; left > 0; left--) at = at.session.parent?.$turn ?? at
    at.keepRecord(record)
    noteRecord(turn.session, up, record)
  }
  for (const { up, key, value } of inside.writes) {
    turn.session.ancestor(up).state.write(key, value)
    noteWrite(turn.session, up, key, value)
  }
  return result
}

/** Something wrote to the state of the agent so many above: it happened inside all calls between. */
export function noteWrite(session: SessionScope, up: number, key: string, value: unknown): void {
  note(session, up, ({ writes }, up) => writes.push({ up, key, value }))
}

/** The same of a record that is kept with its run. */
export function noteRecord(session: SessionScope, up: number, record: StoredRecord): void {
  note(session, up, ({ records }, up) => records.push({ up, record }))
}

function note(session: SessionScope, up: number, add: (inside: Inside, up: number) => void): void {
  let { parent } = session
  for (let left = up - 1; left >= 0 && parent !== undefined; left--) {
    if (parent.$inside !== undefined) add(parent.$inside, left)
    parent = parent.$turn.session.parent
  }
}

/** A call inside has begun. */
export function noteCall(parent: ToolAttempt): void {
  if (parent.$inside !== undefined) parent.$inside.usage.calls++
}

/** A call inside, which was counted when it began, has used so much. */
export function noteUsage({ $inside: inside }: ToolAttempt, usage: Usage): void {
  if (inside === undefined) return
  addUsage(inside.usage, usage)
  inside.usage.calls -= usage.calls
}
