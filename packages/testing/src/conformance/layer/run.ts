import type { AgentRun, LayerEvent, Message, RunResult, Session, StreamEvent } from '@allium/core'
import { isAlliumError, isBlockError } from '@allium/core'
import { historyProblems } from '../../matchers/history-problems.ts'
import { check, checkEqual, Nonconformance } from '../check.ts'
import { show } from '../difference.ts'
import type { Bench } from './bench.ts'
import { macrotask, withUnhandled } from './unhandled.ts'

/** The outcome of a run. */
export interface TurnRun {
  result: RunResult<Record<string, unknown>> | undefined
  error: unknown
  events: (StreamEvent | LayerEvent)[]
  state: Record<string, unknown>
  history: readonly Message[]
}

export interface RunTurnOptions {
  /** Reads the events slowly; otherwise the run is only awaited. */
  read?: boolean
  /** Called while the run is in progress. */
  meanwhile?(run: AgentRun): Promise<unknown>
}

/** Runs a turn to its end, and checks the rules that hold for every run. */
export async function runTurn(
  bench: Bench,
  session: Session,
  start: (session: Session) => AgentRun = () => session.run('What is new?'),
  { read = false, meanwhile }: RunTurnOptions = {},
): Promise<TurnRun> {
  const first = bench.calls.length
  const reportedEnds = new Set(bench.runEnds.keys())
  const { value, unhandled } = await withUnhandled(async () => {
    const run = start(session)
    const [end] = await Promise.all([finish(run, bench, read), meanwhile?.(run)])
    return end
  })
  const ran = { ...value, ...sessionFields(session) }
  checkEnds(bench, reportedEnds, ran)
  check(
    unhandled.length === 0,
    `Every rejection must be handled, but these were not: ${unhandled.map(show).join(', ')}`,
  )
  if (ran.result?.status !== 'suspended') checkHistory(ran.history)
  for (const call of bench.calls.slice(first)) {
    check(call.end !== undefined, `Each hook ends before its run does, but one in ${call.scope} scope still runs`)
    const { nextError, end } = call
    if (nextError !== undefined && end === 'returned' && isFinal(nextError.error))
      throw new Nonconformance(
        `A hook in ${call.scope} scope swallowed the end of the run: its next() rejected with ${show(nextError.error)}, and it returned. Catch only errors that you can handle, and rethrow the rest.`,
      )
  }
  return ran
}

/** A session that was aborted before a store's layer opened it has no content yet. */
function sessionFields(session: Session): Pick<TurnRun, 'state' | 'history'> {
  try {
    return { state: { ...session.state }, history: [...session.history] }
  } catch (error) {
    if (isAlliumError(error, 'session.not_open')) return { state: {}, history: [] }
    throw error
  }
}

/** Returns the result of a run that must complete. */
export function completed({ result, error }: TurnRun, what: string): NonNullable<TurnRun['result']> {
  if (result?.status === 'completed') return result
  const seen = result === undefined ? `failed: ${show(error)}` : `ended ${result.status}${reasonText(result)}`
  throw new Nonconformance(`${what}: the run should complete, but it ${seen}.`, { cause: error })
}

function reasonText({ reason }: { reason?: string }): string {
  return reason === undefined ? '' : ` (${reason})`
}

/** Advances the clock until a condition holds, for layers that wait on it; lets a little real time pass, too. */
export async function advanceUntil({ clock }: Bench, isDone: () => boolean): Promise<void> {
  await macrotask()
  const startedAt = Date.now()
  for (let i = 0; !isDone() && (i < 500 || Date.now() - startedAt < 1000); i++) await clock.advance(i < 50 ? 0 : 1000)
  if (!isDone()) throw new Nonconformance('The run does not end: something in it waits forever.')
}

/** Returns how a run ends, and the events that its reader received. */
export async function finish(run: AgentRun, bench: Bench, read: boolean): Promise<Omit<TurnRun, 'state' | 'history'>> {
  const events: TurnRun['events'] = []
  let end: Pick<TurnRun, 'result' | 'error'> | undefined
  const ended = () =>
    run.then(
      (result) => void (end = { result: result as TurnRun['result'], error: undefined }),
      (error) => void (end = { result: undefined, error }),
    )
  const reading = read ? readSlowly(run, events) : undefined
  // Awaiting a run makes it continue, whatever its reader does.
  if (read) void run.settled().then(ended)
  else void ended()
  await advanceUntil(bench, () => end !== undefined)
  await reading
  return { ...(end as unknown as Pick<TurnRun, 'result' | 'error'>), events }
}

/** Reads more slowly than the model streams, so that the model waits. */
async function readSlowly(run: AgentRun, events: TurnRun['events']): Promise<void> {
  try {
    for await (const event of run) {
      events.push(event)
      await macrotask()
    }
  } catch {
    // the run has the error too
  }
}

/** A run that was rejected before it began, for example by a store, emits nothing. */
function checkEnds({ runEnds: ends }: Bench, reportedEnds: ReadonlySet<string>, { result, error }: TurnRun): void {
  const failed = (error as { name?: string } | undefined)?.name === 'AbortError' ? 'aborted' : 'failed'
  const status = result?.status ?? failed
  for (const [turnId, statuses] of ends)
    if (!reportedEnds.has(turnId))
      checkEqual(statuses, [status], `A run that began tells its end once, as turn:end "${status}"`)
}

function checkHistory(history: readonly Message[]): void {
  const problems = historyProblems(history)
  check(problems.length === 0, `The history stays valid, but ${problems.join(', ')}`)
}

function isFinal(error: unknown): boolean {
  return isBlockError(error) || (error as { name?: unknown } | undefined)?.name === 'AbortError'
}
