import { addUsage, noUsage, type Usage } from '../../messages/usage.ts'
import type { StoredRecord } from '../../seams/session-store.ts'
import type { ToolResult } from '../../tool/tool-result.ts'
import type { SessionScope } from '../session/session-scope.ts'
import type { ToolAttempt } from '../tool/context.ts'

/**
 * What the sub-agents of a call did to the turns around it. It is recorded with the call's step, because a replay of that does
 * not run them.
 */
export interface EffectLog {
  readonly usage: Usage
  /** Kept with the run of the agent so many above the call's own. */
  readonly records: { up: number; record: StoredRecord }[]
  /** What inherited layers wrote to the state of one. */
  readonly writes: { up: number; key: string; value: unknown }[]
}

type Recorded = ToolResult & { inside?: EffectLog }

/** The call's step runs here: what is done inside is noted from now on. */
export function recordEffects(core: ToolAttempt): void {
  core.$effectLog = { usage: noUsage(), records: [], writes: [] }
}

/** The result as the journal keeps it. */
export function withEffects({ $effectLog: effects }: ToolAttempt, result: ToolResult): Recorded {
  if (effects === undefined) return result
  const { usage, records, writes } = effects
  return usage.calls + records.length + writes.length === 0 ? result : { ...result, inside: effects }
}

/** The result as layers see it. Where its step did not run here, what was done inside it is done now. */
export function replayEffects(core: ToolAttempt, recorded: Recorded): ToolResult {
  const { inside: log, ...result } = recorded
  if (log === undefined) return recorded
  if (core.$effectLog !== undefined) return result
  const { $turn: turn } = core
  turn.countAll(log.usage)
  for (const { up, record } of log.records) {
    let at = turn
    for (let levels = up; levels > 0; levels--) at = at.session.parent?.$turn ?? at
    at.storeRecord(record)
    logRecord(turn.session, up, record)
  }
  for (const { up, key, value } of log.writes) {
    turn.session.ancestor(up).state.write(key, value)
    logWrite(turn.session, up, key, value)
  }
  return result
}

/** Something wrote to the state of the agent so many above: it happened inside all calls between. */
export function logWrite(session: SessionScope, up: number, key: string, value: unknown): void {
  eachLog(session, up, ({ writes }, up) => writes.push({ up, key, value }))
}

/** The same of a record that is kept with its run. */
export function logRecord(session: SessionScope, up: number, record: StoredRecord): void {
  eachLog(session, up, ({ records }, up) => records.push({ up, record }))
}

function eachLog(session: SessionScope, up: number, add: (log: EffectLog, up: number) => void): void {
  let { parent } = session
  for (let levels = up - 1; levels >= 0 && parent !== undefined; levels--) {
    if (parent.$effectLog !== undefined) add(parent.$effectLog, levels)
    parent = parent.$turn.session.parent
  }
}

/** A call inside has begun. */
export function logCall(parent: ToolAttempt): void {
  if (parent.$effectLog !== undefined) parent.$effectLog.usage.calls++
}

/** A call inside, which was counted when it began, has used so much. */
export function logUsage({ $effectLog: effects }: ToolAttempt, usage: Usage): void {
  if (effects === undefined) return
  addUsage(effects.usage, usage)
  effects.usage.calls -= usage.calls
}
