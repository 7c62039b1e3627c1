import type { AgentRun, LayerEvent, Message, RunResult, Session, StreamEvent } from '@allium/core'
import { isAlliumError, isBlockError } from '@allium/core'
import { historyProblems } from '../../matchers/history-problems.ts'
import { check, checkEqual, Nonconformance } from '../check.ts'
import { show } from '../difference.ts'
import type { Bench } from './bench.ts'
import { macrotask, withUnhandled } from './unhandled.ts'

/** How a run went. */
export interface Ran {
  result: RunResult<Record<string, unknown>> | undefined
  error: unknown
  events: (StreamEvent | LayerEvent)[]
  state: Record<string, unknown>
  history: readonly Message[]
}

export interface RunHow {
  /** Reads the events, slowly; else the run is awaited alone. */
  read?: boolean
  /** While the run is under way. */
  meanwhile?(run: AgentRun): Promise<unknown>
}

/** Runs a turn to its end, and checks what holds of every run, however it ended. */
export async function runTurn(
  bench: Bench,
  session: Session,
  start: (session: Session) => AgentRun = (session) => session.run('What is new?'),
  { read = false, meanwhile }: RunHow = {},
): Promise<Ran> {
  const first = bench.calls.length
  const told = new Set(bench.ends.keys())
  const { value, unhandled } = await withUnhandled(async () => {
    const run = start(session)
    const [end] = await Promise.all([finish(run, bench, read), meanwhile?.(run)])
    return end
  })
  const ran = { ...value, ...standing(session) }
  checkEnds(bench, told, ran)
  check(unhandled.length === 0, `Every rejection is handled, but nobody handled ${unhandled.map(show).join(', ')}`)
  if (ran.result?.status !== 'suspended') checkHistory(ran.history)
  for (const call of bench.calls.slice(first)) {
    check(call.end !== undefined, `Each hook ends before its run does, but one in ${call.scope} scope still runs`)
    const { missed, end } = call
    if (missed !== undefined && end === 'returned' && isFinal(missed.error))
      throw new Nonconformance(
        `A hook in ${call.scope} scope swallowed the end of the run: its next() rejected with ${show(missed.error)}, and it returned. Let it through: catch what you can mend, and rethrow the rest.`,
      )
  }
  return ran
}

/** A session whose run was aborted before a store's layer had opened it has nothing yet. */
function standing(session: Session): Pick<Ran, 'state' | 'history'> {
  try {
    return { state: { ...session.state }, history: [...session.history] }
  } catch (error) {
    if (isAlliumError(error, 'session.not_open')) return { state: {}, history: [] }
    throw error
  }
}

/** The result of a run that has to complete. */
export function completed({ result, error }: Ran, what: string): NonNullable<Ran['result']> {
  if (result?.status === 'completed') return result
  const seen = result === undefined ? `failed: ${show(error)}` : `ended ${result.status}${why(result)}`
  throw new Nonconformance(`${what}: the run should complete, but it ${seen}.`, { cause: error })
}

function why({ reason }: { reason?: string }): string {
  return reason === undefined ? '' : ` (${reason})`
}

/** Lets time pass until something has happened: for layers that wait on the clock; real time too, but little. */
export async function passTime({ clock }: Bench, happened: () => boolean): Promise<void> {
  await macrotask()
  const begun = Date.now()
  for (let i = 0; !happened() && (i < 500 || Date.now() - begun < 1000); i++) await clock.advance(i < 50 ? 0 : 1000)
  if (!happened()) throw new Nonconformance('The run does not end: something waits for ever.')
}

/** How a run ends, and what its reader saw. */
export async function finish(run: AgentRun, bench: Bench, read: boolean): Promise<Omit<Ran, 'state' | 'history'>> {
  const events: Ran['events'] = []
  let end: Pick<Ran, 'result' | 'error'> | undefined
  const ended = () =>
    run.then(
      (result) => void (end = { result: result as Ran['result'], error: undefined }),
      (error) => void (end = { result: undefined, error }),
    )
  const reading = read ? readSlowly(run, events) : undefined
  // Awaiting a run makes it flow, whatever its reader does.
  if (read) void run.settled().then(ended)
  else void ended()
  await passTime(bench, () => end !== undefined)
  await reading
  return { ...(end as unknown as Pick<Ran, 'result' | 'error'>), events }
}

/** A reader that is slower than the model, so that the model waits for it. */
async function readSlowly(run: AgentRun, events: Ran['events']): Promise<void> {
  try {
    for await (const event of run) {
      events.push(event)
      await macrotask()
    }
  } catch {
    // the run has the error too
  }
}

/** A run that was refused before it began, as by a store, tells nothing. */
function checkEnds({ ends }: Bench, told: ReadonlySet<string>, { result, error }: Ran): void {
  const failed = (error as { name?: string } | undefined)?.name === 'AbortError' ? 'aborted' : 'failed'
  const status = result?.status ?? failed
  for (const [turnId, statuses] of ends)
    if (!told.has(turnId))
      checkEqual(statuses, [status], `A run that began tells its end once, as turn:end "${status}"`)
}

function checkHistory(history: readonly Message[]): void {
  const problems = historyProblems(history)
  check(problems.length === 0, `The history stays valid, but ${problems.join(', ')}`)
}

function isFinal(error: unknown): boolean {
  return isBlockError(error) || (error as { name?: unknown } | undefined)?.name === 'AbortError'
}
