import { addUsage, noUsage, type Usage } from '../messages/usage.ts'
import type { StoredRecord } from '../ports/session-store.ts'
import type { EffectLog, ParentCall } from '../session/scope/parent-call.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { ToolResult } from '../tool/tool-result.ts'

type Caller = ParentCall<SessionScope>
type Recorded = ToolResult & { inside?: EffectLog }

/** The call's step runs in this process. From now on its inner effects are logged. */
export function recordEffects(core: { $effectLog: EffectLog | undefined }): void {
  core.$effectLog = { usage: noUsage(), records: [], writes: [] }
}

/** Returns the result as the journal stores it. */
export function withEffects({ $effectLog: effects }: Caller, result: ToolResult): Recorded {
  if (effects === undefined) return result
  const { usage, records, writes } = effects
  return usage.calls + records.length + writes.length === 0 ? result : { ...result, inside: effects }
}

/** Returns the result as layers see it. Applies the recorded effects if the step did not run in this process. */
export function replayEffects(core: Caller, recorded: Recorded): ToolResult {
  const { inside: log, ...result } = recorded
  if (log === undefined) return recorded
  if (core.$effectLog !== undefined) return result
  const { $turn: turn } = core
  for (let i = 0; i < log.usage.calls; i++) turn.countCall()
  turn.count(log.usage)
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
  eachLog(session, up, ({ writes }, levels) => writes.push({ up: levels, key, value }))
}

/** Logs a record that is stored with its run, in the same way. */
export function logRecord(session: SessionScope, up: number, record: StoredRecord): void {
  eachLog(session, up, ({ records }, levels) => records.push({ up: levels, record }))
}

function eachLog(session: SessionScope, up: number, add: (log: EffectLog, up: number) => void): void {
  let { parent } = session
  for (let levels = up - 1; levels >= 0 && parent !== undefined; levels--) {
    if (parent.$effectLog !== undefined) add(parent.$effectLog, levels)
    parent = parent.$turn.session.parent
  }
}

/** Counts a model call inside. */
export function logCall(parent: Caller): void {
  if (parent.$effectLog !== undefined) parent.$effectLog.usage.calls++
}

/** Adds the usage of a model call inside. The call itself was counted when it started. */
export function logUsage({ $effectLog: effects }: Caller, usage: Usage): void {
  if (effects === undefined) return
  addUsage(effects.usage, usage)
  effects.usage.calls -= usage.calls
}
