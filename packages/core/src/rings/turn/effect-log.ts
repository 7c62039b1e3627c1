import { addUsage, noUsage, type Usage } from '../../messages/usage.ts'
import type { StoredRecord } from '../../ports/session-store.ts'
import type { ToolResult } from '../../tool/tool-result.ts'
import type { SessionScope } from '../session/session-scope.ts'
import type { ToolAttempt } from '../tool/context.ts'

/**
 * The effects of a call's sub-agents on the turns around it. It is recorded with the call's step, because a replay of
 * the step does not run the sub-agents.
 */
export interface EffectLog {
  readonly usage: Usage
  /** Records stored with the run of the agent `up` levels above the call's own. */
  readonly records: { up: number; record: StoredRecord }[]
  /** State writes of inherited layers. */
  readonly writes: { up: number; key: string; value: unknown }[]
}

type Recorded = ToolResult & { inside?: EffectLog }

/** The call's step runs in this process. From now on its inner effects are logged. */
export function recordEffects(core: ToolAttempt): void {
  core.$effectLog = { usage: noUsage(), records: [], writes: [] }
}

/** Returns the result as the journal stores it. */
export function withEffects({ $effectLog: effects }: ToolAttempt, result: ToolResult): Recorded {
  if (effects === undefined) return result
  const { usage, records, writes } = effects
  return usage.calls + records.length + writes.length === 0 ? result : { ...result, inside: effects }
}

/** Returns the result as layers see it. Applies the recorded effects if the step did not run in this process. */
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

/** Logs a state write to the agent `up` levels above, in every call in between. */
export function logWrite(session: SessionScope, up: number, key: string, value: unknown): void {
  eachLog(session, up, ({ writes }, up) => writes.push({ up, key, value }))
}

/** Logs a record that is stored with its run, in the same way. */
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

/** Counts a model call inside. */
export function logCall(parent: ToolAttempt): void {
  if (parent.$effectLog !== undefined) parent.$effectLog.usage.calls++
}

/** Adds the usage of a model call inside. The call itself was counted when it started. */
export function logUsage({ $effectLog: effects }: ToolAttempt, usage: Usage): void {
  if (effects === undefined) return
  addUsage(effects.usage, usage)
  effects.usage.calls -= usage.calls
}
