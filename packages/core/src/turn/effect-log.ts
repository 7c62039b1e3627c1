import { addUsage, noUsage, type Usage } from '../messages/usage.ts'
import type { StoredRecord } from '../ports/session-store.ts'
import type { EffectLog, ParentCall } from '../session/scope/parent-call.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { ToolResult } from '../tool/tool-result.ts'

type Caller = ParentCall<SessionScope>
/** A turn, as the effects inside it see it. */
type OuterTurn = Pick<Caller['$turn'], 'session' | 'usage' | 'records'>
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
  for (let i = 0; i < log.usage.calls; i++) countCall(turn)
  countTokens(turn, log.usage)
  for (const { up, record } of log.records) {
    let at = turn
    for (let levels = up; levels > 0; levels--) at = at.session.parent?.$turn ?? at
    storeRecord(at, record)
    logRecord(turn.session, up, record)
  }
  for (const { up, key, value } of log.writes) {
    turn.session.ancestor(up).state.write(key, value)
    logWrite(turn.session, up, key, value)
  }
  return result
}

/** Counts a provider call, in its turn and in the turns of the parent agents. */
export function countCall({ usage, session: { parent } }: OuterTurn): void {
  usage.calls++
  if (parent === undefined) return
  if (parent.$effectLog !== undefined) parent.$effectLog.usage.calls++
  countCall(parent.$turn)
}

/** Adds the tokens of a provider call in the same way. The call itself was counted when it started. */
export function countTokens({ usage, session: { parent } }: OuterTurn, more: Usage): void {
  const tokens = { ...more, calls: 0 }
  addUsage(usage, tokens)
  if (parent === undefined) return
  if (parent.$effectLog !== undefined) addUsage(parent.$effectLog.usage, tokens)
  countTokens(parent.$turn, tokens)
}

/** Stores a record with the run of the innermost turn around it whose session is stored. */
export function storeRecord(turn: OuterTurn, record: StoredRecord): void {
  const { parent, agent, registered } = turn.session
  if (parent !== undefined && !registered.isStored) {
    logRecord(turn.session, 1, record)
    return storeRecord(parent.$turn, record)
  }
  const { topic } = record
  if (!registered.isStored)
    agent.warnOnce(
      `record:${topic}`,
      `record(ctx, "${topic}") is not stored. Use memory.persist and a session id, or memory.persist({ anonymous: true }).`,
    )
  turn.records ??= []
  turn.records.push(record)
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
